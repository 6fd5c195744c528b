// op_fused_nest.cpp: the nests of several calls as one. Interface: composed() of op_fused.h.
//
//   conv  O[co, oh, ow] += W * I        O[co, oh, ow] += W * I       O is local now
//   relu  O[c, h, w] = max(I, 0)        O2[co, oh, ow] = max(O, 0)
//
// The loops of operators that treat each element alone are named like those of what they read, so
// that loops of one name run over the same elements. A result that a later part reads with padding
// is stored with it: statements of their own set the border.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "nest/border.h"
#include "ops/op_adjoint.h"
#include "ops/op_formula.h"
#include "ops/op_fused.h"

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

class Composer {
 public:
  Composer(isl::ctx ctx, const Call& fused, const std::vector<TypedPart>& parts)
      : ctx_(ctx), fused_(fused), parts_(parts), operands_(fused.inputs()) {}

  Nest compose() {
    for (const TypedPart& part : parts_) nests_.push_back(nest_of(ctx_, part.call));
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
  };

  isl::ctx ctx_;
  const Call& fused_;
  const std::vector<TypedPart>& parts_;
  std::vector<Nest> nests_;                      // of the parts
  std::vector<std::optional<Tensor>> paddings_;  // of the results: how a later part reads them
  std::vector<Tensor> tensors_;
  std::vector<Statement> statements_;
  std::vector<bool> is_border_;                  // of the statements
  std::vector<std::optional<size_t>> operands_;  // their tensors
  std::vector<size_t> results_;
  std::set<std::string> taken_;  // names
  bool is_first_ = true;         // is the first part being added?

  /// Returns what the tensors of a part's nest are that it reads, in order.
  std::vector<Source> sources_of(size_t part) const {
    std::vector<Source> sources;
    for (const Source& source : parts_[part].part.sources) {
      if (source.kind != Source::Kind::nothing) sources.push_back(source);
    }
    return sources;
  }

  void find_paddings() {
    paddings_.resize(parts_.size());
    for (size_t part = 0; part < parts_.size(); ++part) {
      std::vector<Source> sources = sources_of(part);
      size_t next = 0;
      for (const Tensor& tensor : nests_[part].tensors()) {
        if (tensor.role != Role::input && tensor.role != Role::weight) continue;
        check(next < sources.size(), "a nest reads the operands of its call");
        const Source& source = sources[next++];
        if (source.kind == Source::Kind::result && is_padded(tensor)) {
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
    size_t result = results_[source.index];
    const auto& padding = paddings_[source.index];
    if (padding && !is_padded(tensor)) return {result, padding->pad};
    check(tensors_[result].shape == tensor.shape, "nests agree on the shape of a value");
    return {result};
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
    std::vector<Source> sources = sources_of(part);
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

  void add(size_t part) {
    const Nest& nest = nests_[part];
    for (const std::string& loop : loop_names(nest)) taken_.insert(loop);
    std::vector<Place> places = places_of(part);
    for (Statement s : nest.statements()) {
      s.name = fresh(s.name);
      s.origin.statement = s.name;
      if (is_elementwise(parts_[part].call)) name_loops(part, s);
      s.write = moved(s.write, places[s.write.tensor], s.domain.space());
      for (Access& read : s.reads) read = moved(read, places[read.tensor], s.domain.space());
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
      if (source.kind != Source::Kind::result) continue;
      if (parts_[source.index].result.shape == shape) return source.index;
    }
    for (size_t i = 0; i < part; ++i) {
      if (parts_[i].result.shape == shape) return i;
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

bool is_elementwise(const Call& call) {
  if (is_formula(call.name()) || call.name() == "batch_norm") return true;
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

}  // namespace lathe::ops
