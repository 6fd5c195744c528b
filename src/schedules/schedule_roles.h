// What the templates share: the roles that loops play in a statement, and writing recipes.
#pragma once

#include "schedules/schedule.h"
#include "transforms/transform.h"

namespace lathe::schedules {

/// Bytes of f32: cost models and templates without an element of their own count vectors of it.
constexpr long real_bytes = 4;

/// How one loop moves one access: by "step" elements in each iteration. In a layout of blocks, the
/// access jumps at the end of a block; "evenly" counts the iterations between two jumps.
struct Motion {
  bool moves = false;
  long step = 0;
  long evenly = 0;  ///< 0: it never jumps
};

/// How one loop moves all accesses of a statement.
struct LoopRole {
  std::string name;
  long extent;
  Motion write;
  std::vector<Motion> reads;

  /// Returns how many iterations in a row move all accesses evenly. 0: all iterations.
  long evenly() const;
};

/// A statement, and the roles of its loops from outside in.
struct Roles {
  size_t statement;
  std::vector<LoopRole> loops;

  /// Returns the loop of this name, or null.
  const LoopRole* find(const std::string& name) const;
};

/// Returns the roles of the loops of one statement.
Roles roles_of(const Situation& situation, size_t statement);

/// Returns the main statement: the one with the most instances. If several have as many, it is the
/// one that accumulates.
size_t main_statement(const Nest& nest);

/// Writes a recipe. It applies each step at once, so that the next step can depend on the result.
class RecipeWriter {
 public:
  explicit RecipeWriter(const Nest& nest) : written_{{}, {nest}, 0} {}

  const Nest& nest() const { return written_.nests.back(); }
  const Recipe& recipe() const { return written_.recipe; }
  const Written& written() const { return written_; }

  /// Applies a step. Throws a UserError if it does not apply.
  void step(const std::string& name, std::vector<Arg> args);
  /// Splits a loop if it has more iterations than "factor". Returns the names of the outer loop and
  /// of the inner one. If the loop is not split, the outer name is "".
  std::pair<std::string, std::string> split(const std::string& loop, long factor);
  /// Splits a loop into blocks of "evenly" iterations, and each block into parts. There are no
  /// blocks if a block would not hold several whole parts. Returns the names of the loops over
  /// blocks, over parts, and inside a part. A loop that does not exist has the name "".
  struct Split {
    std::string blocks, parts, inside;
  };
  Split split(const std::string& loop, long evenly, long part);
  /// Puts the loops of all statements into this order.
  void reorder(const std::vector<std::string>& loops);
  /// Merges those of these loops that all their statements can share, outermost first.
  void merge(const std::vector<std::string>& loops);
  /// Merges these loops, outermost first, for statements that follow each other. Stops at the first
  /// loop that cannot be merged.
  void merge_neighbours(const std::vector<std::string>& loops);
  /// Makes the outermost of these loops parallel. It takes as many loops as are needed to give all
  /// workers about the same amount of work.
  void share(const std::vector<std::string>& loops, const Target& target);
  /// Packs the weights that a statement reads: they then lie in the order in which it reads them.
  void pack_weights(size_t statement);
  /// Does any statement have a loop of this name?
  bool has(const std::string& loop) const;

 private:
  Written written_;
};

/// A number of positions for a register tile. Its cost is in cycles: those of one product, for one
/// vector of results at one position.
struct TileChoice {
  long positions;
  double cost;
};

/// Does a tile fit the registers? They hold all its sums, one vector of weights for each column,
/// and the factors of one position. A tile of a single position always fits.
bool fits_registers(const Target& target, long positions, long vectors);

/// Chooses how many of "positions" positions a tile has. The tile is "vectors" vectors wide, and
/// fits the registers. "weights_stay" says that its weights stay in the first cache.
std::optional<TileChoice> choose_positions(const Target& target, long positions, long vectors,
                                           bool weights_stay = true);

}  // namespace lathe::schedules
