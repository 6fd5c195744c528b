// contraction.cpp: sums of products in which one factor has loops of its own: convolutions, dense
// and grouped, of any window, and products of matrices.
//
//   for oh.o, co.o, oh.i, ow.o:   parallel, as far as they go
//     start, bias                 the tile of sums is in registers from here ...
//     for ci.o, kh, kw:
//       ci.i, ow.i unrolled, co.i vector:  O[co, oh, ow] += W[co, ci, kh, kw] * I[ci, oh+kh, ow+kw]
//     relu, residual ...          ... to here
//
// The vectors run along the loop that only the weights and the result have (co); the tile's other
// side is the innermost loop that only the data and the result have (ow). Weights are packed in the
// order in which they are read. Data that do not fit the second cache are walked in parts that do,
// so that all columns of weights meet a part before the next one comes. A column that does not fit
// the first cache comes in chunks of ci that do: all tiles of a part then meet a chunk before the
// next. Where samples are summed up, as for the gradient by a weight, the chunks are of samples
// that fit the second cache. All sizes are knobs.
#include <algorithm>

#include "schedules/schedule_choices.h"
#include "schedules/schedule_counting.h"
#include "schedules/schedule_product.h"
#include "schedules/schedule_sizes.h"

namespace lathe::schedules {
namespace {

/// What stays in a cache may take half of it: the other half is for all else that is touched.
constexpr long share_of_cache = 2;

/// Elements of fewer bytes become numbers of this size when they are computed with, unless the
/// target has arithmetic for them.
constexpr long least_element = 4;

/// Iterations of the sum over neighbours that are unrolled: enough to hide the loop around them.
/// A sum of few iterations is unrolled as a whole.
constexpr long unrolled_sum = 4, few_sums = 8;

/// A chunk of a sum has at least so many iterations: in smaller ones, sums are stored too often.
constexpr long least_chunk = 16;

/// What a search may try: powers of two, and numbers between them that divide usual sizes.
const std::vector<long> part_counts = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
const std::vector<long> chunk_sizes = {16, 24, 32, 48, 64, 96, 128, 192, 256, 512};
const std::vector<long> sample_counts = {1, 2, 4, 8, 16, 32};
const std::vector<long> unrolled_sums = {1, 2, 4, 8, 16};
const std::vector<long> prefetch_distances = {1, 2, 4, 8};
const std::vector<long> subsum_sizes = {32, 64, 128, 256, 512};

/// Writes the recipe: fuses, splits, then orders and marks the loops.
class Writing {
 public:
  Writing(const Situation& situation, Roles roles, ProductLoops parts, Choices& choices)
      : s_(situation),
        choices_(choices),
        main_(roles.statement),
        roles_(std::move(roles)),
        parts_(std::move(parts)),
        writer_(situation.nest) {
    const Statement& statement = s_.nest.statements()[main_];
    near_ = neighbours(roles_, parts_);
    std::erase(parts_.sums, near_);
    all_samples_ = samples_loop(s_.nest, main_);
    sums_samples_ = std::erase(parts_.sums, all_samples_) > 0;
    in_halves_ = !sums_samples_ && multiplies_halves(s_, main_);
    terms_ = possible_terms();
    long written = size_of(s_.nest.tensors()[statement.write.tensor].element);
    element_ = in_halves_ ? size_of(Element::f16) : std::max(least_element, written);
    lanes_ = s_.target.lanes(element_);
  }

  std::optional<Written> run() {
    name_alike(writer_, main_);
    const Nest named = writer_.nest();
    if (!near_.empty()) near_evenly_ = roles_.find(near_)->reads[parts_.data].evenly;
    if (terms_ > 0) split_terms();
    fuse_groups(writer_, s_, roles_, parts_);
    fuse_positions(writer_, s_, named, parts_);
    if (!choose_sizes()) return std::nullopt;
    split_columns();
    split_positions();
    block_stays_ = choices_.choose("stay", blocks_stay() ? 1 : 0, {0, 1}) != 0;
    columns_first_ = choices_.choose("columns_first", 0, {1}) != 0;
    split_sums();
    put_in_order();
    pack_weights();
    ask_ahead();
    return writer_.written();
  }

 private:
  const Situation& s_;
  Choices& choices_;
  size_t main_;
  Roles roles_;
  ProductLoops parts_;
  RecipeWriter writer_;
  long element_, lanes_;  // bytes of an element, elements of a vector
  Tile tile_{1, 1, 1};
  bool block_stays_ = false, columns_first_ = false;
  std::string near_;         // of the sums the one along the data in memory, which is split
  long chunk_size_ = 0;      // of it; 0 where no positions are
  std::string all_samples_;  // the loop that counts them
  bool sums_samples_ = false;
  long terms_ = 0;          // products that an instruction adds to a sum; 0: each is added alone
  long near_evenly_ = 0;    // iterations of the sum over neighbours between two jumps; 0: all
  bool in_halves_ = false;  // are products added up in f16?
  std::string subsum_in_;   // the loop in whose body; "": where the sum is complete
  // Names of loops, from outside in; "" where there is no such loop.
  std::string part_, columns_, columns_inside_, chunk_, position_, samples_, subsum_, sum_blocks_,
      sum_, term_;
  std::string unrolled_sum_, several_, unrolled_position_, vector_;

  long extent(const std::string& loop) const {
    const Order& order = writer_.nest().order[main_];
    return order.loops[*find_loop(order, loop)].extent;
  }

  double bytes_of(size_t read) const {
    size_t tensor = s_.nest.statements()[main_].reads[read].tensor;
    long own = size_of(s_.nest.tensors()[tensor].element);
    return static_cast<double>(s_.layouts[tensor].size * (terms_ > 0 ? own : element_));
  }

  /// Returns how many products an instruction adds to a sum; 0 if neighbours do not come in such
  /// numbers.
  long possible_terms() const {
    if (near_.empty() || sums_samples_) return 0;
    long terms = terms_of_dot(s_, main_, parts_.weight);
    if (terms == 0 || roles_.find(near_)->reads[parts_.data].evenly % terms != 0) return 0;
    return roles_.find(near_)->extent % terms == 0 ? terms : 0;
  }

  /// From here on, as many neighbours as an instruction multiplies are one element of the sum.
  void split_terms() {
    std::tie(near_, term_) = writer_.split(near_, terms_);
    near_evenly_ /= terms_;
  }

  /// Chooses the tile; returns whether there is one.
  bool choose_sizes() {
    const LoopRole& v = *roles_.find(parts_.vector);
    long per_group = v.extent;  // beyond it the data are others
    long block = v.write.evenly == 0 ? widest_side(lanes_) : v.write.evenly;
    if (extent(parts_.vector) != per_group) {
      while (per_group % block != 0) --block;
      if (block == 1) return false;
    }
    long positions = parts_.positions.empty() ? 1 : extent(parts_.positions.back());
    TileRoom room{positions, block, per_group, lanes_, weights_stay()};
    auto tile = choose_tile(
        s_.target, room,
        {choices_.wanted("positions"), choices_.wanted("block"), choices_.wanted("blocks")});
    if (!tile) return false;
    tile_ = *tile;
    std::vector<long> own{tile_.positions, tile_.block, tile_.blocks};
    std::vector<Knob> knobs = tile_knobs(s_.target, room, tile_);
    for (size_t i = 0; i < knobs.size(); ++i) {
      choices_.offer(knobs[i].name, own[i], knobs[i].values);
    }
    return true;
  }

  /// Do the weights of the widest column stay in the first cache?
  bool weights_stay() const {
    long bytes = element_ * most_vectors * lanes_ * (near_.empty() ? 1 : extent(near_));
    for (const std::string& sum : parts_.sums) bytes *= extent(sum);
    return bytes <= s_.target.cpu.l1_bytes / share_of_cache;
  }

  void split_columns() {
    // Blocks of the layout first: inside one, channels lie together.
    long evenly = roles_.find(parts_.vector)->write.evenly;
    auto split = writer_.split(parts_.vector, evenly, tile_.block);
    columns_ = split.blocks;
    columns_inside_ = split.parts;
    vector_ = split.inside;
    std::string& outer = columns_inside_.empty() ? columns_ : columns_inside_;
    if (tile_.blocks > 1 && !outer.empty() && extent(outer) > tile_.blocks) {
      std::tie(outer, several_) = writer_.split(outer, tile_.blocks);
    }
    if (columns_.empty()) std::swap(columns_, columns_inside_);
  }

  /// Do the columns of a block of the layout stay in the first cache together? Then a tile meets
  /// them all, and what it writes lies together.
  bool blocks_stay() const {
    if (columns_inside_.empty()) return false;
    long bytes = element_ * tile_.block * tile_.blocks * extent(columns_inside_);
    for (const std::string& sum : parts_.sums) bytes *= extent(sum);
    return bytes * (near_.empty() ? 1 : extent(near_)) <= s_.target.cpu.l1_bytes / share_of_cache;
  }

  long columns() const {
    long n = 1;
    for (const std::string& loop : {columns_, columns_inside_})
      n *= loop.empty() ? 1 : extent(loop);
    return n;
  }

  void split_positions() {
    if (parts_.positions.empty()) return;
    std::string last = parts_.positions.back();
    parts_.positions.pop_back();
    // The loop whose parts fit: the rows, or all positions where they are one loop.
    bool rows =
        !parts_.positions.empty() && parts_.positions.back() != all_samples_ && !sums_samples_;
    std::string& walked = rows ? parts_.positions.back() : last;
    long parts =
        parts_that_stay(s_.target, bytes_of(parts_.data), bytes_of(parts_.weight), columns());
    // Where columns come in chunks, workers share parts and columns, but not the positions.
    long shares = std::max(parts, (least_shares + columns() - 1) / columns());
    long tiles = (extent(last) + tile_.positions - 1) / tile_.positions;
    if (sums_samples_) {
      parts = even_parts(s_.target, extent(last), tile_.positions, shares, columns());
    } else if (!near_.empty()) {
      chunk_size_ = choose_chunk(chunk_for((rows ? tiles * extent(walked) : tiles) / shares));
      if (chunk_size_ < extent(near_)) {
        parts =
            even_parts(s_.target, extent(walked), rows ? 1 : tile_.positions, shares, columns());
      }
    }
    parts = choices_.choose("parts", parts, within(part_counts, 1, extent(walked)));
    long size = part_of(extent(walked), parts, rows ? 1 : tile_.positions);
    bool chunks = chunk_size_ != 0 && chunk_size_ < extent(near_);
    if (size == 1 && chunks) size = std::min(2L, extent(walked));  // or workers could not share it
    if (size > 1) std::tie(part_, walked) = writer_.split(walked, size);
    position_ = last;
    if (tile_.positions > 1) {
      std::tie(position_, unrolled_position_) = writer_.split(last, tile_.positions);
    }
  }

  /// Returns the size of a chunk of the sum over neighbours where so many tiles meet it.
  long chunk_for(long visits) const {
    long evenly = near_evenly_, sums = 1;
    for (const std::string& sum : parts_.sums) sums *= extent(sum);
    auto bytes = static_cast<double>(element_ * tile_.block * tile_.blocks * sums);
    return chunk_of(s_.target, bytes, extent(near_), std::max(least_chunk, evenly), sums, visits);
  }

  long choose_chunk(long own) {
    long all = extent(near_), evenly = near_evenly_;
    std::vector<long> sizes = within(chunk_sizes, 2, all - 1);
    std::erase_if(sizes, [&](long n) { return evenly != 0 && n % evenly != 0 && evenly % n != 0; });
    sizes.push_back(all);
    return choices_.choose("chunk", own, sizes);
  }

  /// Takes as many samples at a time as fit the second cache.
  void split_samples() {
    if (!sums_samples_) return;
    samples_ = all_samples_;
    double bytes =
        (bytes_of(parts_.data) + bytes_of(parts_.weight)) / static_cast<double>(extent(samples_));
    auto fit =
        static_cast<long>(static_cast<double>(s_.target.cpu.l2_bytes) / share_of_cache / bytes);
    long size = choices_.choose("samples", std::clamp(fit, 1L, extent(samples_)),
                                within(sample_counts, 1, extent(samples_)));
    if (size == 1) {
      std::swap(chunk_, samples_);
    } else {
      std::tie(chunk_, samples_) = writer_.split(samples_, size);
    }
  }

  void split_sums() {
    split_samples();
    if (near_.empty()) return;
    std::string near = near_;
    long evenly = near_evenly_, all = extent(near_);
    if (chunk_size_ != 0) std::tie(chunk_, near) = writer_.split(near_, chunk_size_);
    long together = std::max(unrolled_sum, s_.target.cpu.lane_products ? lanes_ : 1L);
    if (extent(near) <= few_sums) together = extent(near);
    if (evenly != 0) together = std::min(together, evenly);
    std::vector<long> counts = within(unrolled_sums, 1, evenly != 0 ? evenly : all);
    std::erase_if(counts, [&](long n) { return evenly % n != 0; });
    together = choices_.choose("unroll", together, counts);
    if (together == 1) {
      sum_ = near;
    } else {
      if (evenly > together) std::tie(sum_blocks_, near) = writer_.split(near, evenly);
      std::tie(sum_, unrolled_sum_) = writer_.split(near, together);
    }
    if (in_halves_) split_subsums();
  }

  /// Cuts the sum over neighbours into parts that are added up in f16.
  void split_subsums() {
    std::string& outer = sum_blocks_.empty() ? sum_ : sum_blocks_;
    if (outer.empty()) return;
    long products = unrolled_sum_.empty() ? 1 : extent(unrolled_sum_);
    for (const std::string& sum : parts_.sums) products *= extent(sum);
    if (!sum_blocks_.empty()) products *= extent(sum_);
    long most = choices_.choose("subsum", products_in_f16, subsum_sizes);
    long size = std::max(1L, most / products);
    if (size > 1) std::tie(subsum_, outer) = writer_.split(outer, size);
    subsum_in_ = size > 1 ? subsum_ : outer;
  }

  void put_in_order() {
    std::vector<std::string> order = parts_.both, inside = parts_.positions;
    if (sums_samples_) {  // all elements of the window meet a chunk of samples
      inside.insert(inside.begin(), order.begin(), order.end());
      order.clear();
    }
    if (!inside.empty() && inside.front() == all_samples_) {
      order.push_back(inside.front());
      inside.erase(inside.begin());
    }
    inside.push_back(position_);
    order.insert(order.end(), {part_, columns_});
    if (columns_first_) std::swap(order.back(), order[order.size() - 2]);
    (block_stays_ ? inside : order).push_back(columns_inside_);
    std::vector<std::string> shared = order;
    order.push_back(chunk_);
    order.insert(order.end(), inside.begin(), inside.end());
    // Sums that come in chunks are set before the first and used after the last.
    if (chunk_.empty()) shared = order;
    // Samples are large: of theirs, what lies together comes last.
    std::vector<std::string> around = order;  // sums are complete in the last of them
    if (!sums_samples_) order.insert(order.end(), {subsum_, sum_blocks_, sum_});
    order.push_back(samples_);
    order.insert(order.end(), parts_.sums.begin(), parts_.sums.end());
    if (sums_samples_) order.insert(order.end(), {sum_blocks_, sum_});
    order.push_back(unrolled_sum_);
    // A factor that is broadcast serves all columns at once; lanes of a vector stay there anyway.
    std::vector<std::string> tile{several_, unrolled_position_};
    if (!s_.target.cpu.lane_products) std::swap(tile[0], tile[1]);
    order.insert(order.end(), tile.begin(), tile.end());
    order.insert(order.end(), {vector_, term_});
    writer_.reorder(order);
    writer_.merge(shared);
    if (!chunk_.empty()) writer_.merge_neighbours(inside);
    // What is computed of a sum stays in registers.
    std::vector<std::string> of_sums = tile;
    of_sums.push_back(vector_);
    writer_.merge_neighbours(of_sums);
    for (const std::string& loop : {unrolled_sum_, several_, unrolled_position_}) {
      if (!loop.empty()) writer_.step("unroll", {loop});
    }
    writer_.step("vectorize", {vector_});
    if (!term_.empty()) writer_.step("vectorize", {term_});
    writer_.share(shared, s_.target);
    around.push_back(subsum_in_);
    if (in_halves_) add_up_halves(writer_, s_.nest.statements()[main_].name, around);
  }

  void pack_weights() {
    const Nest& nest = writer_.nest();
    size_t tensor = nest.statements()[main_].reads[parts_.weight].tensor;
    if (parts_.packs) {
      writer_.step("pack", {nest.tensors()[tensor].name});
    } else {
      writer_.pack_weights(main_);
    }
  }

  /// Asks for the weights some iterations of the innermost loop before they are used.
  void ask_ahead() {
    const Access& weights = writer_.nest().statements()[main_].reads[parts_.weight];
    const Tensor& tensor = writer_.nest().tensors()[weights.tensor];
    bool packed = tensor.role == Role::local;
    std::vector<long> distances = packed ? prefetch_distances : std::vector<long>();
    long distance = choices_.choose("prefetch", 0, distances);
    std::string loop = sum_;
    for (const std::string& sum : parts_.sums) {
      if (extent(sum) > 1) loop = sum;
    }
    if (distance == 0 || loop.empty()) return;
    std::string statement = s_.nest.statements()[main_].name;
    writer_.step("prefetch", {tensor.name, statement + ":" + loop, distance});
  }
};

std::optional<Written> write(const Situation& s, Choices& choices) {
  Roles roles = roles_of(s, main_statement(s.nest));
  auto parts = product_loops(s, roles);
  if (!parts) return std::nullopt;
  return Writing(s, std::move(roles), std::move(*parts), choices).run();
}

}  // namespace

Schedule contraction() {
  return {"contraction", "register tiles of sums of products", Schedule::For::kind, write};
}

}  // namespace lathe::schedules
