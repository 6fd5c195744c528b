// panels.cpp: sums of products in the registers of a matrix unit, where a CPU has one for these
// factors (codegen/panels.h).
//
//   for co.o, oh.o, ow.o:  parallel, as far as they go
//     start                       sums are in memory that stays in the first cache
//     for ci.o, kh, kw:           and, inside these loops, in registers
//       co.p, ow.p unrolled; ow.i, ci.i, co.i, ci.t vector:  O += W * I
//     bias, relu, quantize ...    rows of sums, in vectors
//
// A panel of sums has up to 16 positions and 16 channels. A tile has several of them, side by side
// and one below the other, so that each factor that is loaded serves several products. The unit
// takes a cycle for each row of data, whatever its length, so rows are as long as neighbours lie
// together. All sizes are knobs.
#include <algorithm>
#include <limits>

#include "codegen/panels.h"
#include "schedules/schedule_choices.h"
#include "schedules/schedule_counting.h"
#include "schedules/schedule_product.h"
#include "schedules/schedule_sizes.h"

namespace lathe::schedules {
namespace {

/// Panels of a tile: so many below each other, of positions, and so many side by side, of channels.
struct Panels {
  long rows;  ///< positions of a panel
  long down, across;
};

/// Rows of sums that are unrolled at most.
constexpr long rows_together = 8;

/// Sums of fewer products in all, at each position, take longer to store than to compute.
constexpr long least_products = 32;

/// Panels that are below each other, or side by side, at most.
constexpr long most_panels = 3;

/// Do all sums and factors have registers? The compiler may load the factors at once. A register
/// has one shape in all of a function: where a panel of fewer rows is left over, its sums and its
/// data have registers of their own.
bool fits(const Panels& p, long positions) {
  long full = p.down * p.across + p.down + p.across;
  long left_over = positions % p.rows == 0 ? 0 : p.across + 1;
  return full + left_over <= panel_registers;
}

/// Returns the cycles for all positions, for each channel and each row of weights: products take a
/// cycle for each row of data, and loads half of one for each row.
double cost_of(const Panels& p, long positions, long columns) {
  constexpr double stores = 4;  // rows of sums that leave the registers, and come back as vectors
  long tile = p.rows * p.down, tiles = (positions + tile - 1) / tile;
  auto products = static_cast<double>(tile * p.across);
  double loads = static_cast<double>(tile + panel_rows * p.across) / 2;
  return static_cast<double>(tiles) * (std::max(products, loads) + stores) /
         static_cast<double>(p.across * columns);
}

class Writing {
 public:
  Writing(const Situation& situation, Roles roles, ProductLoops parts, Choices& choices)
      : s_(situation),
        choices_(choices),
        main_(roles.statement),
        name_(situation.nest.statements()[main_].name),
        roles_(std::move(roles)),
        parts_(std::move(parts)),
        writer_(situation.nest) {}

  std::optional<Written> run() {
    std::string near = neighbours(roles_, parts_);
    if (near.empty() || parts_.positions.empty() || parts_.packs) return std::nullopt;
    // Sums of a row lie side by side.
    if (roles_.find(parts_.vector)->write.step != 1) return std::nullopt;
    long terms = terms_of_panels(s_, main_, parts_.weight);
    long together = run_of(near);
    if (terms == 0 || together % terms != 0 || products_of_sum() < least_products) {
      return std::nullopt;
    }
    // Panels of what is left over would need registers of their own.
    if (roles_.find(near)->extent % together != 0) return std::nullopt;
    std::erase(parts_.sums, near);
    name_alike(writer_, main_);
    const Nest named = writer_.nest();
    std::tie(near, term_) = writer_.split(near, terms);
    fuse_groups(writer_, s_, roles_, parts_);
    fuse_positions(writer_, s_, named, parts_);
    if (!choose_sizes()) return std::nullopt;
    split_all(near, together / terms);
    put_in_order();
    writer_.pack_weights(main_);
    return writer_.written();
  }

 private:
  const Situation& s_;
  Choices& choices_;
  size_t main_;
  std::string name_;  // of the main statement
  Roles roles_;
  ProductLoops parts_;
  RecipeWriter writer_;
  Panels panels_{1, 1, 1};
  long columns_ = 1;  // of a panel
  // Names of loops; "" where there is no such loop.
  std::string column_tile_, position_tile_, sum_;  // loops of the code
  std::string across_, down_;                      // panels of a tile
  std::string row_, depth_, column_, term_;        // loops of a product

  long extent(const std::string& loop) const {
    const Order& order = writer_.nest().order[main_];
    return order.loops[*find_loop(order, loop)].extent;
  }

  /// Returns how many iterations of a sum read data that lie side by side.
  long run_of(const std::string& near) const {
    const LoopRole& loop = *roles_.find(near);
    long evenly = loop.reads[parts_.data].evenly;
    return evenly == 0 ? loop.extent : evenly;
  }

  long products_of_sum() const {
    long all = 1;
    for (const std::string& sum : parts_.sums) all *= roles_.find(sum)->extent;
    return all;
  }

  /// Chooses how many positions and channels a tile has; returns whether that is possible.
  bool choose_sizes() {
    long per_group = roles_.find(parts_.vector)->extent, all = extent(parts_.vector);
    long evenly = roles_.find(parts_.vector)->write.evenly;
    long block = evenly == 0 ? per_group : std::min(evenly, per_group);
    columns_ = std::min(panel_sums, block);
    while (block % columns_ != 0 || per_group % columns_ != 0) --columns_;
    long positions = extent(parts_.positions.back());
    std::vector<long> rows, down, across;
    for (long n = std::min(panel_rows, positions); n >= 1; --n) rows.push_back(n);
    for (long n = 1; n <= most_panels; ++n) {
      down.push_back(n);
      bool within = all == per_group || per_group % (columns_ * n) == 0;
      if (within && all % (columns_ * n) == 0) across.push_back(n);
    }
    double least = std::numeric_limits<double>::infinity();
    for (long n : across) {
      for (long d : down) {
        for (long r : rows) {
          Panels each{r, d, n};
          double cost = cost_of(each, positions, columns_);
          if (!fits(each, positions) || r * (d - 1) >= positions || cost >= least) continue;
          least = cost;
          panels_ = each;
        }
      }
    }
    panels_ = {choices_.choose("rows", panels_.rows, rows),
               choices_.choose("down", panels_.down, down),
               choices_.choose("across", panels_.across, across)};
    return columns_ > 1 && fits(panels_, positions);
  }

  void split_all(const std::string& near, long together) {
    std::tie(column_tile_, column_) = writer_.split(parts_.vector, columns_ * panels_.across);
    std::tie(across_, column_) = writer_.split(column_, columns_);
    std::string last = parts_.positions.back();
    parts_.positions.pop_back();
    std::tie(position_tile_, row_) = writer_.split(last, panels_.rows * panels_.down);
    std::tie(down_, row_) = writer_.split(row_, panels_.rows);
    // As many neighbours as a row of a panel holds, of those that lie together.
    long depth = std::min(together, panel_rows);
    while (together % depth != 0) --depth;
    std::tie(sum_, depth_) = writer_.split(near, depth);
  }

  void put_in_order() {
    bool columns_first = choices_.choose("columns_first", 1, {0, 1}) != 0;
    std::vector<std::string> shared = parts_.both;
    if (columns_first) shared.push_back(column_tile_);
    shared.insert(shared.end(), parts_.positions.begin(), parts_.positions.end());
    shared.push_back(position_tile_);
    if (!columns_first) shared.push_back(column_tile_);
    std::vector<std::string> order = shared;
    order.push_back(sum_);
    order.insert(order.end(), parts_.sums.begin(), parts_.sums.end());
    order.insert(order.end(), {across_, down_, row_, depth_, column_, term_});
    writer_.reorder(order);
    writer_.merge(shared);
    // Loops with marks are other loops: the product keeps its own.
    for (const std::string& loop : {across_, down_}) mark_product("unroll", loop);
    mark_product("vectorize", row_);
    split_rows_of_sums();
    for (const std::string& loop : {depth_, column_, term_}) writer_.step("vectorize", {loop});
    writer_.share(shared, s_.target);
  }

  void mark_product(const std::string& how, const std::string& loop) {
    if (!loop.empty()) writer_.step(how, {name_ + ":" + loop});
  }

  /// What is computed of a sum stays in registers, a few rows at a time: what all rows need is
  /// loaded once for these, and the compiler's time grows with the square of their number.
  void split_rows_of_sums() {
    long together = std::min(rows_together, panels_.rows);
    while (panels_.rows % together != 0) --together;
    std::vector<std::string> loops{across_, down_, row_, column_};
    if (together < panels_.rows && together > 1) {
      for (const Statement& statement : s_.nest.statements()) {
        if (statement.name != name_) writer_.step("split", {statement.name + ":" + row_, together});
      }
      loops = {across_, down_, row_ + ".o", row_ + ".i", column_};
    }
    writer_.merge_neighbours(loops);
    if (together == 1) return;
    const std::string& unrolled = loops[loops.size() - 2];
    for (const Statement& statement : s_.nest.statements()) {
      if (statement.name != name_) writer_.step("unroll", {statement.name + ":" + unrolled});
    }
  }
};

std::optional<Written> write(const Situation& s, Choices& choices) {
  Roles roles = roles_of(s, main_statement(s.nest));
  auto parts = product_loops(s, roles);
  if (!parts) return std::nullopt;
  return Writing(s, std::move(roles), std::move(*parts), choices).run();
}

}  // namespace

Schedule panels() {
  return {"panels", "sums of products in a matrix unit", Schedule::For::unit, write};
}

}  // namespace lathe::schedules
