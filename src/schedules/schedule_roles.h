// What the templates share: the roles that loops play in a statement, and writing recipes.
#pragma once

#include "schedules/schedule.h"
#include "transforms/transform.h"

namespace lathe::schedules {

/// What one loop does to one access: by how many elements an iteration moves it; how many
/// iterations do so evenly (the block of a layout).
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
  /// Merges each of these loops, outermost first, as far as several statements have them alike.
  void merge(const std::vector<std::string>& loops);
  /// Merges these loops, outermost first, of statements that follow each other.
  void merge_neighbours(const std::vector<std::string>& loops);
  /// Shares the outermost of these loops among workers: so many that each gets about as much.
  void share(const std::vector<std::string>& loops, const Target& target);
  /// Packs the weights that a statement reads, in the order in which it does.
  void pack_weights(size_t statement);
  /// Has some statement a loop of this name?
  bool has(const std::string& loop) const;

 private:
  Written written_;
};

/// The positions of a register tile, and what a position and vector of results costs with it, in
/// cycles for each product that is added.
struct TileChoice {
  long positions;
  double cost;
};

/// Do all accumulators of a tile, one vector for each column and the factors of a position fit the
/// registers? A single position does.
bool fits_registers(const Target& target, long positions, long vectors);

/// Chooses how many of all "positions" a tile of "vectors" vectors has, so that it
/// fits the registers.
std::optional<TileChoice> choose_positions(const Target& target, long positions, long vectors,
                                           bool weights_stay = true);

}  // namespace lathe::schedules
