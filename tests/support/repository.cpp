// Where the project is. Its path is a definition for this file alone: __FILE__ may be relative, as
// a compiler's cache makes it, and a cache has no use for files that each folder compiles
// differently.
#include "support/repository.h"

namespace lathe::test {

std::filesystem::path repository_root() { return LATHE_SOURCE_DIR; }

}  // namespace lathe::test
