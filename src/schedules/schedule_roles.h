// What the templates share: the roles that loops play in a statement, and writing recipes.
#pragma once

#include "schedules/schedule.h"
#include "transforms/transform.h"

namespace lathe::schedules {

/// How one loop moves one access. Each iteration moves it by "step" elements. "evenly" is how many
/// iterations in a row do so: those inside one block of a layout.
struct Motion {
  bool moves = false;
  long step = 0;
  long evenly = 0;  ///< 0: all
};

struct LoopRole {
  std::string name;
  long extent;
  Motion write;
  std::vector<Motion> reads;

  /// Returns how many iterations move all accesses evenly; 0: all.
  long evenly() const;
};

/// The statement that does most of the work, and its loops.
struct Roles {
  size_t statement;
  std::vector<LoopRole> loops;

  const LoopRole* find(const std::string& name) const;
};

/// Returns the roles of the loops of one statement.
Roles roles_of(const Situation& situation, size_t statement);

/// Returns the statement with most instances; of several, the one that accumulates.
size_t main_statement(const Nest& nest);

/// Writes a recipe, applying each step at once so that the next can be chosen by what is there.
class RecipeWriter {
 public:
  explicit RecipeWriter(const Nest& nest) : written_{{}, {nest}, 0} {}

  const Nest& nest() const { return written_.nests.back(); }
  const Recipe& recipe() const { return written_.recipe; }
  const Written& written() const { return written_; }

  void step(const std::string& name, std::vector<Arg> args);
  /// Splits a loop unless it has no more iterations than "factor". Returns the names of the outer
  /// loop ("" if it was not split) and of the inner one.
  std::pair<std::string, std::string> split(const std::string& loop, long factor);
  /// Splits a loop into blocks of "evenly" iterations, where there are several parts in one, and
  /// these into parts. Returns the names of the loops over blocks, over parts, and inside a part;
  /// "" for a loop that is not there.
  struct Split {
    std::string blocks, parts, inside;
  };
  Split split(const std::string& loop, long evenly, long part);
  /// Puts the loops of all statements into this order.
  void reorder(const std::vector<std::string>& loops);
  /// Merges these loops, outermost first, where several statements have the same loop.
  void merge(const std::vector<std::string>& loops);
  /// Merges these loops, outermost first, of statements that follow each other.
  void merge_neighbours(const std::vector<std::string>& loops);
  /// Shares the outermost of these loops among workers. It takes as many loops as are needed for
  /// each worker to get about as much.
  void share(const std::vector<std::string>& loops, const Target& target);
  /// Packs the weights that a statement reads, in the order in which it does.
  void pack_weights(size_t statement);
  /// Has some statement a loop of this name?
  bool has(const std::string& loop) const;

 private:
  Written written_;
};

/// The number of positions in a register tile, and its cost: the cycles of one product, for one
/// vector of results at one position.
struct TileChoice {
  long positions;
  double cost;
};

/// Returns whether a tile fits the registers: all its sums, one vector of weights for each column,
/// and the factors of one position. A tile of a single position always fits.
bool fits_registers(const Target& target, long positions, long vectors);

/// Chooses how many of all "positions" are in a tile that is "vectors" vectors wide and fits the
/// registers.
std::optional<TileChoice> choose_positions(const Target& target, long positions, long vectors,
                                           bool weights_stay = true);

}  // namespace lathe::schedules
