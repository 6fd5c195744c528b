// transform_winograd_statement.cpp: the statements that take the place of one. Interface:
// transform_winograd_statement.h.
#include "transforms/transform_winograd_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "transforms/transform_frame.h"
#include "transforms/transform_stretch.h"
#include "transforms/transform_toom.h"
#include "transforms/transform_winograd.h"

namespace lathe {
namespace {

/// One statement, rewritten.
class WinogradRewriting {
 public:
  WinogradRewriting(const Nest& nest, NeuralTarget target, Sliding sliding, long outputs)
      : nest_(nest),
        target_(std::move(target)),
        s_(target_.statement),
        sliding_(std::move(sliding)),
        tensors_(nest.tensors()),
        h_(sliding_.slides[0]),
        w_(sliding_.slides[1]),
        rows_(toom(outputs, h_.elements)),
        columns_(toom(outputs, w_.elements)),
        m_(outputs) {}

  Applied run() {
    name_all();
    declare_all();
    std::vector<Statement> made{weights(), input_rows(), input_columns()};
    if (channels_) made.push_back(in_order());
    for (const Statement& s : {products(), output_rows(), output_columns(), result()}) {
      made.push_back(s);
    }
    return {put_in_place(std::move(made)), note(), bound()};
  }

 private:
  const Nest& nest_;
  NeuralTarget target_;
  const Statement& s_;
  Sliding sliding_;
  std::vector<Tensor> tensors_;
  const Slide &h_, &w_;
  Toom rows_, columns_;
  long m_, tiles_h_ = 0, tiles_w_ = 0;
  std::vector<size_t> of_weight_, of_data_, of_result_;  // other coordinates that index them
  std::optional<ChannelStretch> channels_;  // of the data, where they are counted as they lie
  std::vector<size_t> of_products_;         // coordinates by which the products find the data
  size_t A_[2], B_[2], G_[2], U_ = 0, T_ = 0, S_ = 0, V_ = 0, P_ = 0, Q_ = 0, Y_ = 0;
  // Loops: tiles, outputs of a tile, its transformed rows and columns, its inputs.
  std::string th_, tw_, x_, y_, u_, v_, ih_, iw_, c_;

  const Access& weight() const { return s_.reads[sliding_.weight]; }
  const Access& data() const { return s_.reads[sliding_.data]; }

  // ---- names and tensors --------------------------------------------------------------------

  std::string fresh(const std::string& name) const {
    std::string result = fresh_name(nest_, name);
    auto taken = [&](const std::string& n) {
      return std::any_of(tensors_.begin(), tensors_.end(),
                         [&](const Tensor& t) { return t.name == n; });
    };
    for (int i = 2; taken(result); ++i) result = fmt::format("{}{}", name, i);
    return result;
  }

  void name_all() {
    WinogradLoops loops = winograd_loops(nest_, s_.dims[h_.position], s_.dims[w_.position]);
    std::tie(th_, tw_, x_, y_) =
        std::tie(loops.tile_rows, loops.tile_columns, loops.rows, loops.columns);
    std::tie(u_, v_, ih_, iw_) = std::tie(loops.u, loops.v, loops.input_rows, loops.input_columns);
    c_ = loops.channels;
    tiles_h_ = (h_.positions + m_ - 1) / m_;
    tiles_w_ = (w_.positions + m_ - 1) / m_;
  }

  size_t declare(const std::string& name, Role role, std::vector<long> shape,
                 std::vector<double> values = {}) {
    std::vector<Pad> pad(shape.size());
    tensors_.push_back({fresh(name), role, element_of_sums(), std::move(shape), std::move(pad), 0,
                        std::move(values)});
    return tensors_.size() - 1;
  }

  /// Declares a factor of the products, which has the type of the factor that it is made of.
  size_t declare_factor(const std::string& name, const Access& of, std::vector<long> shape) {
    size_t made = declare(name, Role::local, std::move(shape));
    tensors_[made].element = tensors_[of.tensor].element;
    return made;
  }

  void declare_matrices(const char* name, size_t (&to)[2], ToomMatrix Toom::*matrix,
                        Element element) {
    const ToomMatrix *a = &(rows_.*matrix), *b = &(columns_.*matrix);
    auto declare_one = [&](const ToomMatrix& of) {
      size_t made = declare(name, Role::constant, {of.rows, of.columns}, of.values);
      tensors_[made].element = element;
      return made;
    };
    to[0] = declare_one(*a);
    bool same = a->values == b->values && a->rows == b->rows;
    to[1] = same ? to[0] : declare_one(*b);
  }

  Element element_of_sums() const { return tensors_[s_.write.tensor].element; }

  /// Returns the type in which data are transformed. In f16 that rounds less than sums of products
  /// in f16 do, and processors with arithmetic for it take half the time. Coarser types are
  /// transformed in that of the sums.
  Element element_of_transformation() const {
    bool halves = tensors_[data().tensor].element == Element::f16;
    return halves ? Element::f16 : element_of_sums();
  }

  std::vector<long> extents_of(const std::vector<size_t>& coordinates) const {
    std::vector<long> result;
    for (size_t i : coordinates) result.push_back(poly::range(s_.domain, i).upper + 1);
    return result;
  }

  void declare_all() {
    of_weight_ = others_in(weight());
    channels_ = channels_as_they_lie(s_, sliding_);
    of_data_ = others_in(data(), channels_ ? std::optional(channels_->dimension) : std::nullopt);
    for (size_t i : sliding_.others) {
      if (poly::involves(data().at, i)) of_products_.push_back(i);
    }
    of_result_ = others_in(s_.write);
    declare_matrices("A", A_, &Toom::A, element_of_sums());
    declare_matrices("B", B_, &Toom::B, element_of_transformation());
    declare_matrices("G", G_, &Toom::G, element_of_sums());
    long n = rows_.products(), k = columns_.products(), tiles = tiles_h_ * tiles_w_;
    auto shape = [](std::vector<long> a, const std::vector<long>& b) {
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    U_ = declare_factor("U", weight(), shape(extents_of(of_weight_), {n, k}));
    std::vector<long> of_data = extents_of(of_data_);
    if (channels_) of_data.push_back(channels_->count);
    T_ = declare("T", Role::local, shape({tiles, n, k}, of_data));
    tensors_[T_].element = element_of_transformation();
    V_ = declare_factor("V", data(), shape_of_V({n, k, tiles}));
    S_ = channels_ ? declare_factor("S", data(), shape({n, k, tiles}, of_data)) : V_;
    P_ = declare("P", Role::local, shape({n, k, tiles}, extents_of(of_result_)));
    Q_ = declare("Q", Role::local, shape({tiles, m_, k}, extents_of(of_result_)));
    Y_ = declare("Y", Role::local, shape({tiles, m_, m_}, extents_of(of_result_)));
  }

  /// Returns the other coordinates that index a tensor: they must tell its elements apart. Those of
  /// the dimension "without" are left out.
  std::vector<size_t> others_in(const Access& access,
                                std::optional<size_t> without = std::nullopt) const {
    std::vector<size_t> result;
    std::vector<isl::aff> parts = poly::parts(access.at);
    if (without) parts.erase(parts.begin() + static_cast<long>(*without));
    for (size_t i : sliding_.others) {
      bool indexes = std::any_of(parts.begin(), parts.end(),
                                 [&](const isl::aff& part) { return poly::involves(part, i); });
      if (indexes) result.push_back(i);
    }
    Frame frame(s_, result, {});
    std::vector<isl::aff> indices = others_at(frame, access);
    if (without) indices.erase(indices.begin() + static_cast<long>(*without));
    isl::multi_aff at = poly::tuple(frame.domain().space(), indices);
    if (poly::count_image(frame.domain(), at) != poly::count(frame.domain())) {
      fail("statement '{}' finds elements of {} in several ways", s_.name,
           tensors_[access.tensor].name);
    }
    return result;
  }

  /// Returns the coordinates of transformed data: those that were kept, and the channel.
  std::vector<isl::aff> data_at(const Frame& f) const {
    return channels_ ? joined(f.kept(), {f[c_]}) : f.kept();
  }

  /// Returns the loops of a statement that transforms data.
  Frame::Extents data_loops(Frame::Extents loops) const {
    if (channels_) loops.insert(loops.begin(), {c_, channels_->count});
    return loops;
  }

  /// Returns the indices of an access at the first position and the first element of all windows.
  static std::vector<isl::aff> others_at(const Frame& frame, const Access& access) {
    std::vector<isl::aff> result;
    for (const isl::aff& index : poly::parts(access.at)) result.push_back(frame.old(index));
    return result;
  }
  static isl::aff first(const Frame& frame, const Access& access, size_t dimension) {
    return others_at(frame, access)[dimension];
  }

  /// Returns the access with the indices along which windows slide replaced.
  static Access slid(const Frame& frame, const Access& access, size_t in_h, const isl::aff& h,
                     size_t in_w, const isl::aff& w) {
    std::vector<isl::aff> at;
    std::vector<isl::aff> parts = poly::parts(access.at);
    for (size_t d = 0; d < parts.size(); ++d) {
      at.push_back(d == in_h ? h : d == in_w ? w : frame.old(parts[d]));
    }
    return frame.access(access.tensor, at);
  }

  isl::aff tile(const Frame& f) const { return f[th_].scale(tiles_w_).add(f[tw_]); }

  // ---- statements -----------------------------------------------------------------------------

  Statement weights() const {
    Frame f(s_, of_weight_,
            {{u_, rows_.products()},
             {v_, columns_.products()},
             {s_.dims[h_.window], h_.elements},
             {s_.dims[w_.window], w_.elements}});
    isl::aff kh = f[s_.dims[h_.window]], kw = f[s_.dims[w_.window]];
    return f.statement(
        fresh_name(nest_, "weights"), f.access(U_, joined(f.kept(), {f[u_], f[v_]})),
        {f.access(G_[0], {f[u_], kh}), f.access(G_[1], {f[v_], kw}),
         slid(f, weight(), h_.in_weight, in_weight(h_, kh), w_.in_weight, in_weight(w_, kw))});
  }

  /// Returns where an element of the window is in the weight.
  static isl::aff in_weight(const Slide& slide, const isl::aff& element) {
    return element.scale(slide.step).add_constant(slide.first);
  }

  Statement input_rows() const {
    Frame f(s_, of_data_,
            data_loops({{th_, tiles_h_},
                        {tw_, tiles_w_},
                        {u_, rows_.products()},
                        {ih_, rows_.products()},
                        {iw_, columns_.products()}}));
    isl::aff row = f[th_].scale(m_).add(f[ih_]).add(first(f, data(), h_.in_data));
    isl::aff column = f[tw_].scale(m_).add(f[iw_]).add(first(f, data(), w_.in_data));
    // The last tile may reach beyond the data: what it reads there counts in no output.
    f.where_less(row, tensors_[data().tensor].shape[h_.in_data]);
    f.where_less(column, tensors_[data().tensor].shape[w_.in_data]);
    Access from = slid(f, data(), h_.in_data, row, w_.in_data, column);
    if (channels_) {
      std::vector<isl::aff> at = poly::parts(from.at);
      at[channels_->dimension] = f[c_].add_constant(channels_->first);
      from = f.access(from.tensor, at);
    }
    return f.statement(fresh_name(nest_, "rows"),
                       f.access(T_, joined({tile(f), f[u_], f[iw_]}, data_at(f))),
                       {f.access(B_[0], {f[u_], f[ih_]}), std::move(from)});
  }

  Statement input_columns() const {
    Frame f(s_, of_data_,
            data_loops({{th_, tiles_h_},
                        {tw_, tiles_w_},
                        {u_, rows_.products()},
                        {v_, columns_.products()},
                        {iw_, columns_.products()}}));
    return f.statement(fresh_name(nest_, "columns"),
                       channels_ ? f.access(S_, joined({f[u_], f[v_], tile(f)}, data_at(f)))
                                 : f.access(V_, at_V(f, f.kept())),
                       {f.access(B_[1], {f[v_], f[iw_]}),
                        f.access(T_, joined({tile(f), f[u_], f[iw_]}, data_at(f)))});
  }

  /// Returns the indices of V. What is put into order is put so that each group lies together.
  std::vector<isl::aff> at_V(const Frame& f, std::vector<isl::aff> others) const {
    std::vector<isl::aff> tile_of{f[u_], f[v_], tile(f)};
    if (!channels_) return joined(tile_of, others);
    tile_of.push_back(others.back());
    others.pop_back();
    return joined(others, tile_of);
  }

  std::vector<long> shape_of_V(std::vector<long> tile_of) const {
    std::vector<long> others = extents_of(of_products_);
    if (channels_) {
      tile_of.push_back(others.back());
      others.pop_back();
      std::swap(tile_of, others);
    }
    tile_of.insert(tile_of.end(), others.begin(), others.end());
    return tile_of;
  }

  /// Puts transformed data that lie otherwise into the order of the statement's loops.
  Statement in_order() const {
    Frame f(s_, of_products_,
            {{th_, tiles_h_}, {tw_, tiles_w_}, {u_, rows_.products()}, {v_, columns_.products()}});
    std::vector<isl::aff> from{f[u_], f[v_], tile(f)};
    for (size_t i : of_data_) from.push_back(f[s_.dims[i]]);
    from.push_back(first(f, data(), channels_->dimension).add_constant(-channels_->first));
    Statement s = f.statement(fresh_name(nest_, "ordered"), f.access(V_, at_V(f, f.kept())),
                              {f.access(S_, from)});
    s.update = Update::assign;
    return s;
  }

  Statement products() const {
    Frame f(s_, sliding_.others,
            {{th_, tiles_h_}, {tw_, tiles_w_}, {u_, rows_.products()}, {v_, columns_.products()}});
    auto of = [&](const std::vector<size_t>& coordinates) {
      std::vector<isl::aff> at;
      for (size_t i : coordinates) at.push_back(f[s_.dims[i]]);
      return at;
    };
    return f.statement(fresh_name(nest_, "products"),
                       f.access(P_, joined({f[u_], f[v_], tile(f)}, of(of_result_))),
                       {f.access(U_, joined(of(of_weight_), {f[u_], f[v_]})),
                        f.access(V_, at_V(f, of(of_products_)))});
  }

  Statement output_rows() const {
    Frame f(s_, of_result_,
            {{th_, tiles_h_},
             {tw_, tiles_w_},
             {x_, m_},
             {v_, columns_.products()},
             {u_, rows_.products()}});
    return f.statement(
        fresh_name(nest_, "sums"), f.access(Q_, joined({tile(f), f[x_], f[v_]}, f.kept())),
        {f.access(A_[0], {f[x_], f[u_]}), f.access(P_, joined({f[u_], f[v_], tile(f)}, f.kept()))});
  }

  Statement output_columns() const {
    Frame f(s_, of_result_,
            {{th_, tiles_h_}, {tw_, tiles_w_}, {x_, m_}, {y_, m_}, {v_, columns_.products()}});
    return f.statement(
        fresh_name(nest_, "outputs"), f.access(Y_, joined({tile(f), f[x_], f[y_]}, f.kept())),
        {f.access(A_[1], {f[y_], f[v_]}), f.access(Q_, joined({tile(f), f[x_], f[v_]}, f.kept()))});
  }

  /// Adds the tiles to the result: those at the end only as far as it goes.
  Statement result() const {
    Frame f(s_, of_result_, {{th_, tiles_h_}, {tw_, tiles_w_}, {x_, m_}, {y_, m_}});
    isl::aff row = f[th_].scale(m_).add(f[x_]), column = f[tw_].scale(m_).add(f[y_]);
    f.where_less(row, h_.positions);
    f.where_less(column, w_.positions);
    Access write = slid(f, s_.write, h_.in_result, row.add(first(f, s_.write, h_.in_result)),
                        w_.in_result, column.add(first(f, s_.write, w_.in_result)));
    return f.statement(s_.name, std::move(write),
                       {f.access(Y_, joined({tile(f), f[x_], f[y_]}, f.kept()))});
  }

  /// Does another statement write a tensor?
  bool is_written(size_t tensor) const {
    return std::any_of(nest_.statements().begin(), nest_.statements().end(),
                       [&](const Statement& s) { return s.write.tensor == tensor; });
  }

  /// All but the last run before the other statements, where these do not make what they read: what
  /// follows can then share the loops of the last.
  Nest put_in_place(std::vector<Statement> made) {
    std::vector<Statement> statements = nest_.statements();
    std::vector<Order> order = target_.rest;
    auto count = static_cast<long>(made.size());
    for (Order& o : order) o.at[0] = (o.at[0] + 1) * count;
    bool first = !is_written(data().tensor) && !is_written(weight().tensor);
    long place = order[target_.index].at[0];
    for (size_t i = 0; i < made.size(); ++i) {
      Statement s = without_units(made[i]);
      s.origin = {s.name, poly::identity(s.domain.space())};
      long at = static_cast<long>(i) + (first && i + 1 < made.size() ? 0 : place);
      Order plain = plain_order(s, {at});
      if (i + 1 == made.size()) {
        statements[target_.index] = std::move(s);
        order[target_.index] = std::move(plain);
      } else {
        statements.push_back(std::move(s));
        order.push_back(std::move(plain));
      }
    }
    return assemble_nest(nest_.name, tensors_, std::move(statements), std::move(order));
  }

  // ---- what it is worth -----------------------------------------------------------------------

  /// Returns how many products are added to an element of P.
  long channels() const {
    long all = poly::count(products().domain);
    long elements = rows_.products() * columns_.products() * tiles_h_ * tiles_w_;
    for (long extent : extents_of(of_result_)) elements *= extent;
    return std::max(1L, all / elements);
  }

  double unit() const {
    Element sums = element_of_sums();
    if (sums != Element::f64 && sums != Element::f32) {
      fail("winograd needs f32 or f64: other elements would round too much");
    }
    return unit_of(sums);
  }

  /// Returns how much narrow factors round. Their sums may be taken apart by a later step.
  NarrowFactors narrow() const {
    double unit = std::max(unit_of(tensors_[weight().tensor].element),
                           unit_of(tensors_[data().tensor].element));
    return {unit, winograd_most_in_subsum, unit_of(element_of_transformation())};
  }

  double bound() const { return expected_error(rows_, columns_, channels(), unit(), narrow()); }

  std::string note() const {
    long direct = m_ * m_ * h_.elements * w_.elements, now = rows_.products() * columns_.products();
    long products = channels() * h_.elements * w_.elements;
    bool is_narrow = narrow().unit > unit();
    double sum = is_narrow ? expected_error_of_sum(std::min(products, winograd_most_in_subsum),
                                                   narrow().unit)
                           : expected_error_of_sum(products, unit());
    return fmt::format(
        "{} products instead of {} for {} outputs; the error stays below {:.1e} of the outputs' "
        "root mean square ({:.1e} when all products are added up), for data without structure",
        now, direct, m_ * m_, bound(), sum);
  }
};

}  // namespace

Applied winograd_statement(const Nest& nest, NeuralTarget target, Sliding sliding, long outputs) {
  return WinogradRewriting(nest, std::move(target), std::move(sliding), outputs).run();
}

}  // namespace lathe
