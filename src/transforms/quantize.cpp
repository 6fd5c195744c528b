// quantize.cpp: multiplies integers of 8 bits instead of real numbers.
//
//   quantize(int8):   O[x] += W[x, k] * I[k]
//                 ->  M[x] max= |W[x, k]|                  the greatest of each sum's weights
//                     B[x] = 127 / M[x]
//                     V[x, k] = round(W[x, k] * B[x])      of i8; the same for the data I
//                     S[x] += V[x, k] * J[k]               of i32: exact
//                     O[x] += S[x] * M[x] * N / 127^2      N is the greatest of the data
//
// All that meets in a sum must have one scale, and only that: so weights have one for each filter,
// data one for all channels and positions, or one for each row of a matrix. What is computed of
// weights alone is computed once, when a network is made ready. The data are stored with the
// indices last that weights have too, the channels: sums run along them.
#include <algorithm>
#include <map>

#include "nest/builder.h"
#include "transforms/transform_frame.h"
#include "transforms/transform_neural.h"
#include "transforms/transform_toom.h"

namespace lathe::transforms {
namespace {

/// The largest integer; the lowest of i8 is left out, so that both signs have the same numbers.
constexpr long largest_integer = 127;

/// Where all numbers are smaller than this, they become 0: their inverse would be infinite.
constexpr double least_magnitude = 1e-30;

/// Numbers that become integers. Indices tell them apart: loops of the product where each finds
/// another element, as in weights; otherwise the dimensions of the tensor.
struct Factor {
  size_t tensor;
  isl::set domain;                      ///< of the indices
  std::vector<isl::aff> at = {};        ///< indices -> element of the tensor
  std::vector<std::string> names = {};  ///< of the indices
  std::vector<long> extents = {};
  std::vector<long> lower = {};    ///< where the dimensions of a tensor begin; none of loops
  std::vector<bool> scaled = {};   ///< has each value of an index its own scale?
  std::vector<size_t> order = {};  ///< of the indices, as the integers lie
  size_t greatest = 0, inverse = 0, integers = 0;  ///< tensors
  bool is_made = false;                            ///< by statements
};

/// A read of a product: the factor, and its indices as functions of the product's loops.
struct Use {
  size_t factor;
  std::vector<isl::aff> indices;
};

bool is_real_product(const Nest& nest, const Statement& s) {
  using Op = Expr::Op;
  bool is_product = s.update == Update::add && s.reads.size() == 2 && s.value.op == Op::mul &&
                    s.value.args[0].op == Op::read && s.value.args[1].op == Op::read &&
                    s.value.args[0].read != s.value.args[1].read;
  return is_product && std::all_of(s.reads.begin(), s.reads.end(), [&](const Access& read) {
           const Tensor& tensor = nest.tensors()[read.tensor];
           return tensor.role != Role::constant && is_float(tensor.element);
         });
}

std::vector<size_t> coordinates_in(const Statement& s, const Access& access) {
  std::vector<size_t> result;
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (poly::involves(access.at, i)) result.push_back(i);
  }
  return result;
}

/// Is a tensor a factor that a matrix of constants has made?
bool is_transformed(const Nest& nest, size_t tensor) {
  return std::any_of(nest.statements().begin(), nest.statements().end(), [&](const Statement& s) {
    return s.write.tensor == tensor &&
           std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& read) {
             return nest.tensors()[read.tensor].role == Role::constant;
           });
  });
}

/// One nest, rewritten.
class Quantising {
 public:
  explicit Quantising(const Nest& nest)
      : nest_(nest), tensors_(nest.tensors()), statements_(nest.statements()) {}

  Applied run() {
    find_products();
    for (size_t s : products_) find_factors(s);
    place_apart();
    for (size_t p = 0; p < products_.size(); ++p) {
      for (const Use& use : uses_[p]) make(factors_[use.factor], products_[p]);
      multiply(p);
      state_error(p);
    }
    std::string note = fmt::format(
        "factors become integers up to {}, sums of them are exact; the error stays below {:.1e} of "
        "the outputs' root mean square, for data without structure",
        largest_integer, error_);
    return {assemble_nest(nest_.name, tensors_, statements_, order_), note, error_};
  }

 private:
  Nest nest_;  // its order changes where products shared loops with others
  std::vector<Tensor> tensors_;
  std::vector<Statement> statements_;
  std::vector<Order> order_;
  std::vector<size_t> products_;        // statements, in sequence
  std::vector<std::vector<Use>> uses_;  // of each product: of its two factors
  std::vector<Factor> factors_;
  long first_place_ = 0;                // of statements that come before all others
  std::map<size_t, long> free_places_;  // before each product
  double error_ = 0;

  // ---- what there is --------------------------------------------------------------------------

  void find_products() {
    for (size_t s : sequence(nest_.order)) {
      if (!is_real_product(nest_, nest_.statements()[s])) continue;
      products_.push_back(s);
      nest_.order = take_statement(nest_, s).rest;
    }
    if (products_.empty()) fail("no statement adds products of two real numbers that vary");
  }

  void find_factors(size_t index) {
    const Statement& s = nest_.statements()[index];
    if (!is_found_once(s, s.write)) {
      fail("statement '{}' finds elements of {} in several ways", s.name,
           tensors_[s.write.tensor].name);
    }
    require_short(s);
    uses_.emplace_back();
    for (size_t r : {0, 1}) {
      const Access& read = s.reads[r];
      if (is_transformed(nest_, read.tensor)) {
        fail("{} was transformed, which rounding does not suit; take one step or the other",
             tensors_[read.tensor].name);
      }
      bool by_loops =
          is_found_once(s, read) && (is_weight(read.tensor) || readers(read.tensor) == 1);
      uses_.back().push_back(by_loops ? loops_of(s, read, s.reads[1 - r])
                                      : dimensions_of(s, read, s.reads[1 - r]));
    }
  }

  bool is_weight(size_t tensor) const { return tensors_[tensor].role == Role::weight; }

  /// Returns how many products read a tensor; one that multiplies it by itself counts twice.
  long readers(size_t tensor) const {
    long count = 0;
    for (size_t s : products_) {
      for (const Access& read : nest_.statements()[s].reads) count += read.tensor == tensor ? 1 : 0;
    }
    return count;
  }

  /// Do the loops that an access involves find each element once?
  static bool is_found_once(const Statement& s, const Access& access) {
    Frame frame(s, coordinates_in(s, access), {});
    isl::multi_aff at = poly::tuple(frame.domain().space(), in_frame(frame, access));
    return poly::count_image(frame.domain(), at) == poly::count(frame.domain());
  }

  static std::vector<isl::aff> in_frame(const Frame& frame, const Access& access) {
    std::vector<isl::aff> at;
    for (const isl::aff& index : poly::parts(access.at)) at.push_back(frame.old(index));
    return at;
  }

  /// Checks that no sum leaves i32.
  static void require_short(const Statement& s) {
    long products = 1;
    for (size_t i = 0; i < s.dims.size(); ++i) {
      if (!poly::involves(s.write.at, i)) products *= poly::range(s.domain, i).upper + 1;
    }
    long most = highest_of(Element::i32) / (largest_integer * largest_integer);
    if (products <= most) return;
    fail("'{}' adds up {} products; sums of more than {} may leave i32", s.name, products, most);
  }

  /// Returns the use of a factor whose indices are loops.
  Use loops_of(const Statement& s, const Access& read, const Access& other) {
    std::vector<size_t> loops = coordinates_in(s, read);
    Frame frame(s, loops, {});
    Factor f{.tensor = read.tensor, .domain = frame.domain(), .at = in_frame(frame, read)};
    Use use{factors_.size(), {}};
    std::vector<bool> own;
    for (size_t i : loops) {
      f.names.push_back(s.dims[i]);
      f.extents.push_back(poly::range(s.domain, i).upper + 1);
      f.scaled.push_back(poly::involves(s.write.at, i));
      own.push_back(!poly::involves(other.at, i));
      use.indices.push_back(poly::coordinate(s.domain.space(), i));
    }
    put_in_order(f, own);
    factors_.push_back(std::move(f));
    return use;
  }

  /// Returns the use of a factor whose indices are the dimensions of its tensor. All products that
  /// read the tensor share it.
  Use dimensions_of(const Statement& s, const Access& read, const Access& other) {
    std::vector<isl::aff> parts = poly::parts(read.at);
    auto known = std::find_if(factors_.begin(), factors_.end(), [&](const Factor& f) {
      return f.tensor == read.tensor && !f.lower.empty();
    });
    size_t number = known - factors_.begin();
    if (known == factors_.end()) factors_.push_back(box_of(read.tensor));
    Factor& f = factors_[number];
    std::vector<bool> own(parts.size());  // has a dimension loops that the other factor lacks?
    for (size_t d = 0; d < parts.size(); ++d) {
      for (size_t i = 0; i < s.dims.size(); ++i) {
        own[d] = own[d] || (poly::involves(parts[d], i) && !poly::involves(other.at, i));
      }
    }
    if (f.order.empty()) put_in_order(f, own);
    Use use{number, parts};
    for (size_t d = 0; d < parts.size(); ++d) {
      use.indices[d] = parts[d].add_constant(-f.lower[d]);
    }
    return use;
  }

  /// Returns a factor with the elements of a tensor that products read, and all between them. Where
  /// some loop of a sum moves along a dimension, all its elements have one scale.
  Factor box_of(size_t tensor) const {
    size_t rank = tensors_[tensor].shape.size();
    std::vector<long> upper(rank, 0);
    Factor f{.tensor = tensor,
             .domain = poly::box(nest_.ctx(), {}),
             .lower = tensors_[tensor].shape,
             .scaled = std::vector<bool>(rank, true)};
    for (size_t p : products_) {
      const Statement& s = nest_.statements()[p];
      for (const Access& read : s.reads) {
        if (read.tensor != tensor) continue;
        std::vector<isl::aff> parts = poly::parts(read.at);
        for (size_t d = 0; d < rank; ++d) {
          poly::Interval range = poly::range(s.domain, parts[d]);
          f.lower[d] = std::min(f.lower[d], range.lower);
          upper[d] = std::max(upper[d], range.upper);
          for (size_t i = 0; i < s.dims.size(); ++i) {
            if (poly::involves(parts[d], i) && !poly::involves(s.write.at, i)) f.scaled[d] = false;
          }
        }
      }
    }
    for (size_t d = 0; d < rank; ++d) {
      f.names.push_back(std::to_string(d));
      f.extents.push_back(upper[d] - f.lower[d] + 1);
    }
    f.domain = poly::box(nest_.ctx(), f.extents);
    for (size_t d = 0; d < rank; ++d) {
      f.at.push_back(poly::coordinate(f.domain.space(), d).add_constant(f.lower[d]));
    }
    require_set(f);
    return f;
  }

  /// Indices that the other factor lacks come first: sums run along those that both have.
  static void put_in_order(Factor& f, const std::vector<bool>& own) {
    for (bool first : {true, false}) {
      for (size_t k = 0; k < own.size(); ++k) {
        if (own[k] == first) f.order.push_back(k);
      }
    }
  }

  /// Checks that all elements of a local factor are set: some may lie between those that are read.
  void require_set(const Factor& f) const {
    const Tensor& tensor = tensors_[f.tensor];
    if (tensor.role != Role::local) return;
    isl::set read = f.domain.apply(poly::tuple(f.domain.space(), f.at).as_map());
    std::optional<isl::set> written;
    for (const Statement& s : nest_.statements()) {
      if (s.write.tensor != f.tensor) continue;
      isl::set part = s.domain.apply(s.write.at.as_map());
      written = written ? written->unite(part) : part;
    }
    if (written && read.is_subset(*written)) return;
    fail("not all of {} is set, so the greatest of it is not known", tensor.name);
  }

  // ---- what there will be ---------------------------------------------------------------------

  /// Makes room for new statements around each outermost place: three for each factor before it,
  /// and one behind it. What makes integers of given tensors comes before everything: so it is
  /// between no statements that could share loops.
  void place_apart() {
    constexpr long room = 8, before = 6;
    order_ = nest_.order;
    for (Order& o : order_) o.at[0] = room * o.at[0] + before;
    first_place_ = -3 * static_cast<long>(factors_.size());
    for (size_t s : products_) free_places_[s] = order_[s].at[0] - before;
  }

  std::string fresh(const std::string& name) const {
    auto taken = [&](const std::string& n) {
      return std::any_of(tensors_.begin(), tensors_.end(),
                         [&](const Tensor& t) { return t.name == n; }) ||
             std::any_of(statements_.begin(), statements_.end(),
                         [&](const Statement& s) { return s.name == n; });
    };
    std::string result = fresh_name(nest_, name);
    for (int i = 2; taken(result); ++i) result = fmt::format("{}{}", name, i);
    return result;
  }

  size_t add_tensor(const std::string& name, Element element, std::vector<long> shape) {
    std::vector<Pad> pad(shape.size());
    tensors_.push_back({fresh(name), Role::local, element, std::move(shape), std::move(pad), 0});
    return tensors_.size() - 1;
  }

  /// Appends a statement at an outermost place of its own.
  void append(Statement s, long place) {
    s = without_units(s);
    s.origin = {"", poly::identity(s.domain.space())};
    Order plain = plain_order(s, {place});
    statements_.push_back(std::move(s));
    order_.push_back(std::move(plain));
  }

  static std::vector<size_t> indices_with_scales(const Factor& f) {
    std::vector<size_t> result;
    for (size_t k = 0; k < f.scaled.size(); ++k) {
      if (f.scaled[k]) result.push_back(k);
    }
    return result;
  }

  /// Returns those of "all" that are listed, in that order.
  template <class T>
  static std::vector<T> chosen(const std::vector<T>& all, const std::vector<size_t>& list) {
    std::vector<T> result;
    for (size_t k : list) result.push_back(all[k]);
    return result;
  }

  /// Writes the statements that make the integers of a factor, before the first product of them.
  void make(Factor& f, size_t product) {
    using Op = Expr::Op;
    if (f.is_made) return;
    f.is_made = true;
    require_made_before(f.tensor, product);
    const std::string name = tensors_[f.tensor].name;
    std::vector<size_t> scaled = indices_with_scales(f);
    Element real = tensors_[f.tensor].element == Element::f64 ? Element::f64 : Element::f32;
    f.greatest = add_tensor(name + ".greatest", real, chosen(f.extents, scaled));
    f.inverse = add_tensor(name + ".inverse", real, chosen(f.extents, scaled));
    f.integers = add_tensor(name + ".int8", Element::i8, chosen(f.extents, f.order));

    Statement greatest;
    greatest.name = fresh("greatest." + name);
    for (const std::string& index : f.names) greatest.dims.push_back(fresh(name + "." + index));
    greatest.domain = f.domain;
    isl::space space = f.domain.space();
    greatest.origin = {"", poly::identity(space)};
    std::vector<isl::aff> indices = poly::parts(poly::identity(space));
    greatest.reads = {{f.tensor, poly::tuple(space, f.at)}};
    greatest.write = {f.greatest, poly::tuple(space, chosen(indices, scaled))};
    Statement inverse = over_scales(greatest, scaled), integers = greatest;
    greatest.update = Update::maximum;
    greatest.value = call(Op::max, {call(Op::abs, {read(0)}), number(least_magnitude)});
    inverse.name = fresh("inverse." + name);
    inverse.write.tensor = f.inverse;
    inverse.value = call(Op::single, {number(largest_integer) / read(0)});
    integers.name = fresh("integers." + name);
    integers.write = {f.integers, poly::tuple(space, chosen(indices, f.order))};
    integers.reads.push_back({f.inverse, greatest.write.at});
    // Which of two integers is nearer is decided on what an f32 can hold.
    integers.value = call(Op::round, {call(Op::single, {read(0) * read(1)})});
    long& place = is_given(f.tensor) ? first_place_ : free_places_.at(product);
    for (const Statement* s : {&greatest, &inverse, &integers}) append(*s, place++);
  }

  /// Returns a statement that reads and writes the scales that another one writes.
  static Statement over_scales(const Statement& all, const std::vector<size_t>& scaled) {
    Frame frame(all, scaled, {});
    Access scales = frame.access(all.write.tensor, frame.kept());
    Statement s = frame.statement("", scales, {scales});
    s.update = Update::assign;
    return s;
  }

  /// Does no statement of the nest write a tensor?
  bool is_given(size_t tensor) const {
    return std::none_of(nest_.statements().begin(), nest_.statements().end(),
                        [&](const Statement& s) { return s.write.tensor == tensor; });
  }

  /// Checks that a factor is complete before the loops of a product begin.
  void require_made_before(size_t tensor, size_t product) const {
    for (size_t s = 0; s < nest_.statements().size(); ++s) {
      if (nest_.statements()[s].write.tensor != tensor) continue;
      if (nest_.order[s].at[0] < nest_.order[product].at[0]) continue;
      fail("'{}' writes {} while it is read", nest_.statements()[s].name, tensors_[tensor].name);
    }
  }

  /// Lets a statement multiply integers, and scales their sums.
  void multiply(size_t p) {
    size_t index = products_[p];
    const Statement old = nest_.statements()[index];
    const Tensor target = tensors_[old.write.tensor];
    size_t sums = add_tensor(target.name + ".integers", Element::i32, target.shape);
    Frame frame(old, coordinates_in(old, old.write), {});
    std::vector<isl::aff> at = in_frame(frame, old.write);
    Statement scaled = frame.statement(
        fresh(old.name + ".scaled"), frame.access(old.write.tensor, at), {frame.access(sums, at)});
    Statement& product = statements_[index];
    product.write.tensor = sums;
    for (size_t r : {0, 1}) {
      const Use& use = uses_[p][r];
      const Factor& f = factors_[use.factor];
      product.reads[r] = {f.integers,
                          poly::tuple(old.domain.space(), chosen(use.indices, f.order))};
      std::vector<isl::aff> of_scale;
      for (size_t k : indices_with_scales(f)) of_scale.push_back(frame.old(use.indices[k]));
      scaled.reads.push_back(frame.access(f.greatest, of_scale));
    }
    constexpr double scale = 1.0 / (largest_integer * largest_integer);
    scaled.value = read(0) * (read(1) * (read(2) * number(scale)));
    append(std::move(scaled), order_[index].at[0] + 1);
  }

  void state_error(size_t p) {
    const Statement& s = nest_.statements()[products_[p]];
    long sums = std::max(1L, poly::count_image(s.domain, s.write.at));
    long products = std::max(1L, poly::count(s.domain) / sums);
    auto with_one_scale = [&](const Use& use) {
      const Factor& f = factors_[use.factor];
      long count = 1;
      for (size_t k = 0; k < f.extents.size(); ++k) count *= f.scaled[k] ? 1 : f.extents[k];
      return count;
    };
    error_ += expected_error_of_integers(largest_integer, products, with_one_scale(uses_[p][0]),
                                         with_one_scale(uses_[p][1]));
  }
};

Applied quantised(const Nest& nest, const Arguments&) { return Quantising(nest).run(); }

std::vector<Step> candidates_of_quantize(const Nest& nest) {
  Step step{"quantize", {std::string("int8")}};
  return applies(nest, step) ? std::vector<Step>{step} : std::vector<Step>{};
}

}  // namespace

Transform quantize() {
  return {
      "quantize",
      Transform::Kind::algebraic,
      {{Takes::integer}},
      "O[x] += W[k] * I[x+k]  ->  S[x] += round(W[k] * a) * round(I[x+k] * b); O[x] += S[x] / ab",
      quantised,
      candidates_of_quantize};
}

}  // namespace lathe::transforms
