// op_fused_nest.cpp: the nests of several calls as one. Interface: composed() of op_fused.h.
//
//   conv  O[co, oh, ow] += W * I        O[co, oh, ow] += W * I       O is local now
//   relu  O[c, h, w] = max(I, 0)        O2[co, oh, ow] = max(O, 0)
//
// The loops of operators that treat each element alone are named like those of what they read, so
// that loops of one name run over the same elements. A result that a later part reads with padding
// is stored with it: statements of their own set the border. Parts that only choose elements of an
// operand are not computed where what reads them can read the operand (op_fused_views.h).
#include <algorithm>
#include <set>

#include "base/error.h"
#include "nest/border.h"
#include "ops/op_adjoint.h"
#include "ops/op_formula.h"
#include "ops/op_fused.h"
#include "ops/op_fused_views.h"

namespace lathe::ops {
namespace {

bool is_padded(const Tensor& tensor) {
  return std::any_of(tensor.pad.begin(), tensor.pad.end(), [](Pad p) { return p != Pad{}; });
}

/// Returns the coordinate that a function is, if it is one.
std::optional<size_t> as_coordinate(const isl::aff& function, const Statement& s) {
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (poly::same(function, poly::coordinate(s.domain.space(), i))) return i;
  }
  return std::nullopt;
}

/// Names the loop over one dimension of a tensor by the index with which a statement writes it;
/// empty if none suggests itself. Channels are counted by one loop, in groups or not.
std::string loop_of(const isl::aff& index, const Statement& s) {
  for (size_t i = 0; i < s.dims.size(); ++i) {
    bool of_channels = s.dims[i] == "co" || s.dims[i] == "g";
    if (of_channels && poly::involves(index, i)) return "co";
  }
  auto coordinate = as_coordinate(index, s);
  return coordinate ? s.dims[*coordinate] : "";
}

/// Stands for the result of a part that is not computed.
constexpr auto no_tensor = static_cast<size_t>(-1);

class Composer {
 public:
  Composer(isl::ctx ctx, const Call& fused, const std::vector<TypedPart>& parts)
      : ctx_(ctx), fused_(fused), parts_(parts), operands_(fused.inputs()) {}

  Nest compose() {
    for (const TypedPart& part : parts_) nests_.push_back(nest_of(ctx_, part.call));
    views_ = parts_seen_through(parts_, nests_);
    find_paddings();
    for (size_t i = 0; i < parts_.size(); ++i) add(i);
    put_operands_in_order();
    // Borders are set first: what computes a result then stands beside what reads it.
    std::vector<Order> order;
    long next_border = 0, next = std::count(is_border_.begin(), is_border_.end(), true);
    for (size_t i = 0; i < statements_.size(); ++i) {
      order.push_back(plain_order(statements_[i], {is_border_[i] ? next_border++ : next++}));
    }
    return make_nest("fused", tensors_, statements_, std::move(order));
  }

 private:
  /// The tensor that stands for one of a part's, and by how much its indices are larger.
  struct Place {
    size_t tensor;
    std::vector<Pad> shift = {};
    const SeenThrough* view = nullptr;  // through which the tensor is read
  };

  isl::ctx ctx_;
  const Call& fused_;
  const std::vector<TypedPart>& parts_;
  std::vector<Nest> nests_;                        // of the parts
  std::vector<std::optional<SeenThrough>> views_;  // parts that are not computed
  std::vector<std::optional<Tensor>> paddings_;    // of the results: how a later part reads them
  std::vector<Tensor> tensors_;
  std::vector<Statement> statements_;
  std::vector<bool> is_border_;                  // of the statements
  std::vector<std::optional<size_t>> operands_;  // their tensors
  std::vector<size_t> results_;
  std::set<std::string> taken_;  // names
  bool is_first_ = true;         // is the first part being added?

  void find_paddings() {
    paddings_.resize(parts_.size());
    for (size_t part = 0; part < parts_.size(); ++part) {
      std::vector<Source> sources = sources_of(parts_[part]);
      size_t next = 0;
      for (const Tensor& tensor : nests_[part].tensors()) {
        if (tensor.role != Role::input && tensor.role != Role::weight) continue;
        check(next < sources.size(), "a nest reads the operands of its call");
        const Source& source = sources[next++];
        bool computed = source.kind == Source::Kind::result && !views_[source.index];
        if (computed && is_padded(tensor)) {
          add_padding(source.index, tensor);
        }
      }
      check(next == sources.size(), "a nest reads all operands of its call");
    }
  }

  void add_padding(size_t result, const Tensor& tensor) {
    std::optional<Tensor>& known = paddings_[result];
    bool same = !known || (known->pad == tensor.pad && known->padding == tensor.padding);
    if (!same) fused_.refuse("result #{} is read with two different paddings", result);
    known = tensor;
  }

  /// Returns a name that is not taken yet; the first part keeps its own.
  std::string fresh(const std::string& name) {
    std::string result = name;
    bool keeps = taken_.insert(result).second || is_first_;
    for (int i = 2; !keeps; ++i) {
      result = fmt::format("{}{}", name, i);
      keeps = taken_.insert(result).second;
    }
    return result;
  }

  size_t declare(Tensor tensor) {
    tensor.name = fresh(tensor.name);
    tensors_.push_back(std::move(tensor));
    return tensors_.size() - 1;
  }

  /// What reads an operand without padding after another read it with some skips the padding.
  Place place_of_operand(const Tensor& tensor, size_t operand) {
    std::optional<size_t>& known = operands_[operand];
    if (!known) {
      known = declare(tensor);
      return {*known};
    }
    const Tensor& first = tensors_[*known];
    bool same = first.shape == tensor.shape && first.pad == tensor.pad &&
                (first.padding == tensor.padding || !is_padded(tensor));
    if (same) return {*known};
    if (!is_padded(tensor)) return {*known, first.pad};
    fused_.refuse("operand %{} is read with two different paddings", operand);
  }

  Place place_of(const Tensor& tensor, const Source& source) {
    if (source.kind == Source::Kind::operand) return place_of_operand(tensor, source.index);
    if (views_[source.index]) return place_of_view(tensor, *views_[source.index]);
    size_t result = results_[source.index];
    const auto& padding = paddings_[source.index];
    if (padding && !is_padded(tensor)) return {result, padding->pad};
    check(tensors_[result].shape == tensor.shape, "nests agree on the shape of a value");
    return {result};
  }

  /// Returns the place of the operand that is read through a view, with the view's padding.
  Place place_of_view(Tensor tensor, const SeenThrough& view) {
    tensor.shape = view.shape;
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      tensor.shape[d] += tensor.pad[d].before + tensor.pad[d].after;
    }
    Place place = place_of_operand(tensor, view.operand);
    place.view = &view;
    return place;
  }

  /// Declares the result of a part, with the padding that is read later.
  Place place_of_result(size_t part, Tensor tensor) {
    if (part + 1 < parts_.size()) tensor.role = Role::local;
    const auto& padding = paddings_[part];
    if (padding) tensor.shape = padding->shape;
    results_.push_back(declare(std::move(tensor)));
    return {results_.back(), padding ? padding->pad : std::vector<Pad>()};
  }

  /// Finds or declares the tensors of a part.
  std::vector<Place> places_of(size_t part) {
    std::vector<Source> sources = sources_of(parts_[part]);
    size_t next = 0;
    std::vector<Place> places;
    for (const Tensor& tensor : nests_[part].tensors()) {
      if (tensor.role == Role::input || tensor.role == Role::weight) {
        places.push_back(place_of(tensor, sources[next++]));
      } else if (tensor.role == Role::output) {
        places.push_back(place_of_result(part, tensor));
      } else {
        places.push_back({declare(tensor)});
      }
    }
    return places;
  }

  static Access moved(const Access& access, const Place& place, const isl::space& space) {
    if (place.shift.empty()) return {place.tensor, access.at};
    std::vector<isl::aff> indices = poly::parts(access.at);
    for (size_t i = 0; i < indices.size(); ++i) {
      indices[i] = indices[i].add_constant(place.shift[i].before);
    }
    return {place.tensor, poly::tuple(space, indices)};
  }

  /// Returns a read of a part as one of what stands for its tensor.
  static Access moved_read(const Nest& nest, const Statement& s, Access read, const Place& place) {
    if (place.view) {
      auto indices = seen_through(*place.view, nest.tensors()[read.tensor], read, s.domain);
      check(indices.has_value(), "views are only taken where all can read through them");
      read.at = poly::tuple(s.domain.space(), *indices);
    }
    return moved(read, place, s.domain.space());
  }

  void add(size_t part) {
    const Nest& nest = nests_[part];
    if (views_[part]) {
      results_.push_back(no_tensor);
      return;
    }
    for (const std::string& loop : loop_names(nest)) taken_.insert(loop);
    std::vector<Place> places = places_of(part);
    for (Statement s : nest.statements()) {
      s.name = fresh(s.name);
      s.origin.statement = s.name;
      if (is_elementwise(parts_[part].call)) name_loops(part, s);
      s.write = moved(s.write, places[s.write.tensor], s.domain.space());
      for (Access& read : s.reads) read = moved_read(nest, s, read, places[read.tensor]);
      statements_.push_back(std::move(s));
    }
    is_first_ = false;
    is_border_.resize(statements_.size(), false);
    if (paddings_[part]) add_border(part);
  }

  /// Sets the elements around a result that a later part reads.
  void add_border(size_t part) {
    const Tensor& padding = *paddings_[part];
    Nest border =
        border_of(ctx_, parts_[part].result.shape, padding.pad, padding.padding, padding.element);
    for (Statement s : border.statements()) {
      s.name = fresh("border");
      s.origin.statement = s.name;
      s.write.tensor = results_[part];
      statements_.push_back(std::move(s));
    }
    is_border_.resize(statements_.size(), true);
  }

  /// Returns a result of the same shape, whose elements a part goes through: one that it reads, or
  /// else the first one.
  std::optional<size_t> alike(size_t part) const {
    const Shape& shape = parts_[part].result.shape;
    for (const Source& source : parts_[part].part.sources) {
      if (source.kind != Source::Kind::result || views_[source.index]) continue;
      if (parts_[source.index].result.shape == shape) return source.index;
    }
    for (size_t i = 0; i < part; ++i) {
      if (!views_[i] && parts_[i].result.shape == shape) return i;
    }
    return std::nullopt;
  }

  /// Names the loops of an element-wise statement like those of a result of the same shape.
  void name_loops(size_t part, Statement& s) const {
    std::vector<std::string> wanted(s.dims.size());
    if (auto result = alike(part)) {
      for (size_t k = 0; k < s.write.at.size(); ++k) {
        auto coordinate = as_coordinate(s.write.at.at(static_cast<int>(k)), s);
        if (coordinate) wanted[*coordinate] = loop_over(*result, k);
      }
    }
    std::set<std::string> used;
    for (std::string& name : wanted) {
      if (!name.empty() && !used.insert(name).second) name.clear();
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i].empty()) continue;
      wanted[i] = s.dims[i];
      for (int n = 2; !used.insert(wanted[i]).second; ++n) {
        wanted[i] = fmt::format("{}{}", s.dims[i], n);
      }
    }
    s.dims = wanted;
  }

  /// Returns the name of the loop over dimension "k" of a result, if a statement suggests one.
  std::string loop_over(size_t result, size_t k) const {
    long before = paddings_[result] ? paddings_[result]->pad[k].before : 0;
    for (const Statement& s : statements_) {
      if (s.write.tensor != results_[result]) continue;
      isl::aff index = s.write.at.at(static_cast<int>(k)).add_constant(-before);
      std::string name = loop_of(index, s);
      if (!name.empty()) return name;
    }
    return "";
  }

  /// Exchanges the tensors of operands so that they stand in the order of the operands.
  void put_operands_in_order() {
    std::vector<size_t> wanted, places;
    for (const auto& tensor : operands_) wanted.push_back(*tensor);
    places = wanted;
    std::sort(places.begin(), places.end());
    std::vector<size_t> moved_to(tensors_.size());
    for (size_t t = 0; t < moved_to.size(); ++t) moved_to[t] = t;
    std::vector<Tensor> tensors = tensors_;
    for (size_t i = 0; i < wanted.size(); ++i) {
      moved_to[wanted[i]] = places[i];
      tensors[places[i]] = tensors_[wanted[i]];
    }
    tensors_ = std::move(tensors);
    for (Statement& s : statements_) {
      s.write.tensor = moved_to[s.write.tensor];
      for (Access& read : s.reads) read.tensor = moved_to[read.tensor];
    }
  }
};

}  // namespace

bool is_conversion(const Call& call) {
  return call.name() == "cast" || call.name() == "quantize" || call.name() == "dequantize";
}

bool is_elementwise(const Call& call) {
  if (is_formula(call.name()) || is_conversion(call) || call.name() == "batch_norm") return true;
  if (call.name() != "adjoint") return false;
  std::shared_ptr<const Differentiated> known = differentiated(call);
  const Call& of = known->of;
  auto by = static_cast<size_t>(call.integer("by"));
  // The gradient of a sum is the same for all that was summed up.
  if (of.name() == "reduce_sum" || of.name() == "reduce_mean" || of.name() == "variance") {
    return by == 0;
  }
  return is_elementwise(of) && of.type(by) == infer(of)[0];
}

Nest composed(isl::ctx ctx, const Call& fused, const std::vector<TypedPart>& parts) {
  return Composer(ctx, fused, parts).compose();
}

bool reads_through_views(const Call& fused) {
  Context context;
  std::vector<TypedPart> parts = parts_of(fused);
  std::vector<Nest> nests;
  for (const TypedPart& part : parts) nests.push_back(nest_of(context, part.call));
  std::vector<std::optional<SeenThrough>> views = parts_seen_through(parts, nests);
  for (size_t p = 0; p < parts.size(); ++p) {
    if (!views[p] && view_of(parts[p].call)) return false;
  }
  return true;
}

}  // namespace lathe::ops
