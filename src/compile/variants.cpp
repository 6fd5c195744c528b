// variants.cpp: see variants.h.
#include "compile/variants.h"

#include <cstring>
#include <map>

#include "base/error.h"
#include "base/random.h"
#include "codegen/target.h"

namespace lathe {
namespace {

std::string print_shapes(const std::vector<CompiledFace>& faces) {
  std::string text;
  for (const CompiledFace& face : faces) {
    text += (text.empty() ? "" : ", ") + face.name + " " + print_type(face.type);
  }
  return text;
}

bool are_alike(const std::vector<CompiledFace>& a, const std::vector<CompiledFace>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const CompiledFace& x, const CompiledFace& y) {
                      return x.name == y.name && x.type.element == y.type.element &&
                             x.type.shape.size() == y.type.shape.size();
                    });
}

/// Puts pieces of weights one after the other, each of them once.
class JoinedWeights {
 public:
  /// Returns where a piece lies, which is added unless an equal one is there.
  long place_of(std::span<const std::byte> piece) {
    std::vector<long>& places = places_[hash_data(piece)];
    for (long at : places) {
      bool fits = static_cast<size_t>(at) + piece.size() <= bytes_.size();
      if (fits && std::memcmp(bytes_.data() + at, piece.data(), piece.size()) == 0) return at;
    }
    long at = rounded_to_lines(static_cast<long>(bytes_.size()));
    bytes_.resize(static_cast<size_t>(at));
    bytes_.insert(bytes_.end(), piece.begin(), piece.end());
    places.push_back(at);
    return at;
  }

  std::vector<std::byte> bytes() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  std::map<uint64_t, std::vector<long>> places_;  // of pieces, by their hashes
};

}  // namespace

void check_variants(const std::vector<Compiled>& variants) {
  check(!variants.empty(), "a library has a variant");
  const Compiled& first = variants.front();
  for (size_t i = 1; i < variants.size(); ++i) {
    const Compiled& other = variants[i];
    if (!are_alike(first.inputs, other.inputs) || !are_alike(first.outputs, other.outputs)) {
      fail("a library holds one network for several shapes, not {} beside {}",
           print_shapes(other.inputs), print_shapes(first.inputs));
    }
    for (size_t k = 0; k < i; ++k) {
      if (print_shapes(variants[k].inputs) != print_shapes(other.inputs)) continue;
      fail("two variants are for the same shapes: {}", print_shapes(other.inputs));
    }
  }
}

std::vector<std::byte> join_weights(std::vector<Compiled>& variants) {
  JoinedWeights joined;
  for (Compiled& variant : variants) {
    std::map<long, long> moved_to;
    std::span<const std::byte> weights = variant.weights;
    for (const WeightPiece& piece : variant.pieces) {
      moved_to[piece.offset] = joined.place_of(
          weights.subspan(static_cast<size_t>(piece.offset), static_cast<size_t>(piece.bytes)));
    }
    for (CompiledStep& step : variant.steps) {
      for (lathe_place& place : step.places) {
        if (place.where == LATHE_WEIGHTS) place.offset = moved_to.at(place.offset);
      }
    }
    variant.weights.clear();
  }
  return std::move(joined).bytes();
}

}  // namespace lathe
