// Kernels run on memory that is watched, and compared with the interpreter.
//
//   Reference wanted = interpreted(nest);                        what the values must be
//   Compilation compilation;                                     many nests, one object
//   compilation.add({tensors, layouts, {}, lower(scan(...)), wanted, "its story"});
//   compilation.run(random);                                     each result is compared
//
// Whatever a kernel has not set is garbage (no number, where the type has such a thing), and so is
// what surrounds each tensor. Nothing outside of the tensors that it writes may change.
// LATHE_TELL=1 tells the story of each case before it runs, in case that it crashes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/array.h"
#include "compile/node.h"
#include "nest/interpret.h"
#include "runtime/runtime.h"
#include "support/random_case.h"
#include "transforms/transform.h"

namespace lathe::test {

/// The elements of every tensor of an interpreted nest, by name; row-major, padding included.
struct Reference {
  bool exact = true;      ///< is every value an integer that its type can hold?
  bool overflow = false;  ///< is one beyond its type? Then memory holds something else.
  double slack = 0;       ///< how far reals may be off instead, where algebraic steps round
  std::map<std::string, std::vector<double>> reals;
  std::map<std::string, std::vector<long>> integers;  ///< instead, if no tensor is of reals
};

/// Are the results of these functions integers wherever their arguments are?
inline bool keeps_integers(const Expr& e) {
  using Op = Expr::Op;
  static const std::set<Op> kept = {
      Op::number, Op::read,  Op::neg,  Op::add,   Op::sub,  Op::mul,        Op::max,   Op::min,
      Op::abs,    Op::floor, Op::ceil, Op::round, Op::less, Op::less_equal, Op::equal, Op::select};
  if (e.op == Op::number && std::isfinite(e.number) && e.number != std::floor(e.number))
    return false;
  return kept.contains(e.op) && std::all_of(e.args.begin(), e.args.end(), keeps_integers);
}

/// Returns the greatest integer up to which a type holds every one.
inline double integers_up_to(Element element) {
  switch (element) {
    case Element::bf16:
      return 256;
    case Element::f16:
    case Element::tf32:
      return 2048;
    case Element::f32:
      return 1 << 24;
    case Element::f64:
      return 9e15;
    default:
      return static_cast<double>(highest_of(element));
  }
}

/// Draws small integers for inputs and weights that their type can hold.
template <class T>
void fill_small(const Nest& nest, Buffers<T>& buffers, unsigned seed) {
  fill_inputs(nest, buffers, seed, 4);
  for (size_t t = 0; t < buffers.size(); ++t) {
    Element element = nest.tensors()[t].element;
    if (!is_integral(element) || lowest_of(element) < 0) continue;
    for (T& x : buffers[t]) {
      if (x < 0 && x >= T(-4)) x = -x;
      if (element == Element::boolean) x = x > 1 ? T(1) : T(0);
    }
  }
}

template <class T>
Reference reference_of(const Nest& nest, unsigned seed) {
  Buffers<T> buffers = make_buffers<T>(nest);
  fill_small(nest, buffers, seed);
  interpret(nest, buffers);
  Reference result;
  for (const Statement& s : nest.statements())
    result.exact = result.exact && keeps_integers(s.value);
  for (size_t t = 0; t < buffers.size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    for (T x : buffers[t]) {
      auto value = static_cast<double>(x);
      bool fits = std::abs(value) <= integers_up_to(tensor.element) || std::isinf(value);
      result.exact = result.exact && fits;
      bool lowest = value <= static_cast<double>(std::numeric_limits<long>::lowest());
      if (!is_integral(tensor.element) || lowest) continue;
      bool below = value < static_cast<double>(lowest_of(tensor.element));
      result.overflow = result.overflow || below || !fits;
    }
    if constexpr (std::is_integral_v<T>) {
      result.integers[tensor.name] = buffers[t];
    } else {
      result.reals[tensor.name] = buffers[t];
    }
  }
  return result;
}

/// Interprets a nest on small integers.
inline Reference interpreted(const Nest& nest, unsigned seed = 1) {
  bool integral = std::all_of(nest.tensors().begin(), nest.tensors().end(),
                              [](const Tensor& t) { return is_integral(t.element); });
  return integral ? reference_of<long>(nest, seed) : reference_of<double>(nest, seed);
}

/// Calls "visit" with the row-major number and the offset of each element of a tensor.
template <class Visit>
void for_each_element(const std::vector<long>& shape, const Layout& layout, Visit visit) {
  std::vector<long> at(shape.size(), 0);
  for (size_t k = 0, n = static_cast<size_t>(count_of(shape)); k < n; ++k) {
    visit(k, static_cast<size_t>(offset_of(at, layout)));
    for (size_t i = shape.size(); i-- > 0;) {
      if (++at[i] < shape[i]) break;
      at[i] = 0;
    }
  }
}

/// The memory of one tensor, with garbage before, behind and wherever no element lies.
class WatchedTensor {
 public:
  WatchedTensor(const Tensor& tensor, const Layout& layout)
      : tensor_(tensor),
        layout_(layout),
        size_(static_cast<size_t>(size_of(tensor.element))),
        memory_(static_cast<size_t>(layout.size) * size_ + 2 * margin,
                std::byte{is_float(tensor.element) ? uint8_t{0xff} : uint8_t{0xa5}}) {}

  std::byte* data() { return memory_.data() + margin; }
  /// Returns all that is watched: the tensor begins "margin" bytes behind its beginning.
  std::span<std::byte> whole() { return memory_; }
  static constexpr size_t margin = 256;
  const Tensor& tensor() const { return tensor_; }

  /// Writes the elements of a reference that the kernels are given.
  void fill(const Reference& reference) {
    Shape shape = tensor_.shape;
    auto reals = reference.reals.find(tensor_.name);
    Array array;
    if (reals != reference.reals.end()) {
      std::vector<double> values = reals->second;
      bool integral = is_integral(tensor_.element);
      for (double& x : values) {
        if (integral && std::isinf(x)) x = static_cast<double>(lowest_of(tensor_.element));
      }
      array = Array::of_reals(tensor_.element, shape, values);
    } else {
      std::vector<long> values = reference.integers.at(tensor_.name);
      for (long& x : values) x = std::max(x, lowest_of(tensor_.element));
      array = Array::of_integers(tensor_.element, shape, values);
    }
    for_each_element(shape, layout_, [&](size_t k, size_t offset) {
      std::memcpy(data() + offset * size_, array.bytes().data() + k * size_, size_);
    });
  }

  /// Writes the values of a constant.
  void fill_values() {
    Array array = Array::of_reals(tensor_.element, tensor_.shape, tensor_.values);
    for_each_element(tensor_.shape, layout_, [&](size_t k, size_t offset) {
      std::memcpy(data() + offset * size_, array.bytes().data() + k * size_, size_);
    });
  }

  void fill_zeros() {
    for_each_element(tensor_.shape, layout_, [&](size_t, size_t offset) {
      std::memset(data() + offset * size_, 0, size_);
    });
  }

  Array elements() {
    std::vector<std::byte> bytes(static_cast<size_t>(count_of(tensor_.shape)) * size_);
    for_each_element(tensor_.shape, layout_, [&](size_t k, size_t offset) {
      std::memcpy(bytes.data() + k * size_, data() + offset * size_, size_);
    });
    return Array::of_bytes(tensor_.element, tensor_.shape, bytes);
  }

  /// Remembers the memory as it is.
  void watch() { before_ = memory_; }

  /// Says what changed that may not; empty if nothing did. "written": its elements may change.
  std::string refute(bool written) {
    std::vector<bool> free(memory_.size(), false);
    if (written) {
      for_each_element(tensor_.shape, layout_, [&](size_t, size_t offset) {
        std::fill_n(free.begin() + static_cast<long>(margin + offset * size_), size_, true);
      });
    }
    for (size_t i = 0; i < memory_.size(); ++i) {
      if (free[i] || memory_[i] == before_[i]) continue;
      return fmt::format("{}: byte {} of {} changed", tensor_.name,
                         static_cast<long>(i) - static_cast<long>(margin),
                         memory_.size() - 2 * margin);
    }
    return "";
  }

 private:
  Tensor tensor_;
  Layout layout_;
  size_t size_;
  std::vector<std::byte> memory_, before_;
};

/// A nest as kernels, and what they must compute.
struct CompiledCase {
  std::vector<Tensor> tensors;
  std::vector<Layout> layouts;
  std::vector<Repacking> repackings;
  std::vector<Code> kernels;
  Reference wanted;
  std::string story;
  std::vector<bool> zeroed = {};  ///< tensors that hold zeros before: they are read before set
};

/// What small integers may be off by where a step rounds: whatever is wrong is off by more.
inline constexpr double slack_of_integers = 0.01;

/// Do the steps of a recipe round? Then the integers that a case wants are not met exactly.
inline bool rounds(const std::string& recipe) {
  Recipe steps = parse_recipe(recipe);
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return find_transform(step.name).kind == Transform::Kind::algebraic;
  });
}

/// What the elements of an output must be, row-major, and how far each may be off. One that may be
/// infinitely far off can be anything; one that is no number must be none.
struct Expected {
  std::vector<double> reals;
  std::vector<long> integers;  ///< instead, if there is a reference of integers
  std::vector<double> allowed;
};

/// Returns how far a real may be off. "largest" is the greatest of its tensor.
inline double allowed_error(double must, double largest, Element element,
                            const Reference& reference) {
  if (is_integral(element) && !std::isfinite(must)) return std::numeric_limits<double>::infinity();
  bool exact = reference.exact && reference.slack == 0;
  if (exact || !std::isfinite(must)) return 0;
  if (reference.slack > 0) return reference.slack;
  double tolerance = element == Element::bf16 ? 3e-2 : element == Element::f16 ? 1e-2 : 1e-4;
  double allowed = is_integral(element) ? 1 : tolerance * std::max(std::abs(must), 1.0);
  // Sums of large numbers of both signs are as wrong as the numbers are.
  return std::max(allowed, 1e-6 * largest);
}

/// Returns what the elements of a tensor must be after a case ran.
inline Expected expected_of(const Tensor& tensor, const Reference& reference) {
  Expected expected;
  Element element = tensor.element;
  if (auto found = reference.integers.find(tensor.name); found != reference.integers.end()) {
    expected.integers = Array::of_integers(element, tensor.shape, found->second).integers();
    for (long x : found->second) {
      // Of no elements at all there is no greatest.
      bool any = x == std::numeric_limits<long>::lowest();
      expected.allowed.push_back(any ? std::numeric_limits<double>::infinity() : 0);
    }
    return expected;
  }
  expected.reals = reference.reals.at(tensor.name);
  double largest = 0;
  for (double x : expected.reals) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  for (double& x : expected.reals) {
    expected.allowed.push_back(allowed_error(x, largest, element, reference));
    if (is_integral(element) && expected.allowed.back() > 0) x = std::trunc(x);
  }
  return expected;
}

/// Expects the outputs of a case; "worst" becomes the largest error of reals.
inline void expect_wanted(WatchedTensor& tensor, const Reference& reference, double& worst) {
  Array got = tensor.elements();
  Expected expected = expected_of(tensor.tensor(), reference);
  const std::string& name = tensor.tensor().name;
  bool integers = !expected.integers.empty();
  std::vector<long> is_integer = integers ? got.integers() : std::vector<long>();
  std::vector<double> is = integers ? std::vector<double>() : got.reals();
  for (size_t k = 0; k < expected.allowed.size(); ++k) {
    double allowed = expected.allowed[k];
    if (std::isinf(allowed)) continue;
    if (integers) {
      ASSERT_EQ(is_integer[k], expected.integers[k]) << name << ", element " << k;
    } else if (std::isnan(expected.reals[k])) {
      ASSERT_TRUE(std::isnan(is[k])) << name << ", element " << k;
    } else if (allowed == 0) {
      ASSERT_EQ(is[k], expected.reals[k]) << name << ", element " << k;
    } else {
      worst = std::max(worst, std::abs(is[k] - expected.reals[k]));
      ASSERT_NEAR(is[k], expected.reals[k], allowed) << name << ", element " << k;
    }
  }
}

/// Returns the memory of a case before it runs.
inline std::vector<WatchedTensor> memory_of(const CompiledCase& c) {
  std::vector<WatchedTensor> memory;
  for (size_t t = 0; t < c.tensors.size(); ++t) {
    memory.emplace_back(c.tensors[t], c.layouts[t]);
    if (c.tensors[t].role == Role::input || c.tensors[t].role == Role::weight) {
      memory[t].fill(c.wanted);
    } else if (c.tensors[t].role == Role::constant) {
      memory[t].fill_values();
    } else if (!c.zeroed.empty() && c.zeroed[t]) {
      memory[t].fill_zeros();
    }
  }
  for (const Repacking& p : c.repackings) {
    repack(p, memory[p.from].data(), memory[p.to].data(), size_of(c.tensors[p.to].element));
  }
  for (WatchedTensor& tensor : memory) tensor.watch();
  return memory;
}

/// May the kernels of a case change the elements of a tensor?
inline bool may_change(const CompiledCase& c, size_t tensor) {
  // What was prepared serves every run.
  for (const Repacking& p : c.repackings) {
    if (c.tensors[p.to].name == c.tensors[tensor].name) return false;
  }
  return c.tensors[tensor].role == Role::output || c.tensors[tensor].role == Role::local;
}

/// Is a tensor of a case compared with what it must be?
inline bool is_compared(const CompiledCase& c, size_t tensor) {
  return c.tensors[tensor].role == Role::output && !c.wanted.overflow;
}

/// Expects what a case must have computed; "worst" becomes the largest error of reals.
inline void expect_computed(const CompiledCase& c, std::vector<WatchedTensor>& memory,
                            double& worst) {
  for (size_t t = 0; t < memory.size(); ++t) {
    ASSERT_EQ(memory[t].refute(may_change(c, t)), "");
    if (is_compared(c, t)) expect_wanted(memory[t], c.wanted, worst);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// Calls the kernels of a case in sequence, each in several parts in any order; "worst" becomes the
/// largest error of reals.
inline void run_case(const CompiledCase& c, const std::vector<lathe_kernel>& functions,
                     Random& random, double& worst) {
  std::vector<WatchedTensor> memory = memory_of(c);
  for (size_t k = 0; k < c.kernels.size(); ++k) {
    const Code& code = c.kernels[k];
    std::vector<void*> arguments;
    for (size_t t : arguments_of(code)) arguments.push_back(memory[t].data());
    std::vector<std::pair<long, long>> parts;
    for (long from = 0, count = code.count(); from < count;) {
      long to = random.chance(40) ? count : random.between(from + 1, count);
      parts.emplace_back(from, to);
      from = to;
    }
    random.shuffle(parts);
    for (auto [from, to] : parts) {
      std::vector<double> aligned(static_cast<size_t>(code.scratch_bytes) / 8 + 17,
                                  std::numeric_limits<double>::quiet_NaN());
      auto* scratch = reinterpret_cast<std::byte*>(aligned.data() + 8);
      functions[k](arguments.data(), code.scratch_bytes == 0 ? nullptr : scratch, from, to);
      const std::byte* behind = scratch + (code.scratch_bytes + 7) / 8 * 8;
      for (size_t i = 0; i < 8; ++i) {
        double after = 0;
        std::memcpy(&after, behind + 8 * i, 8);
        ASSERT_TRUE(std::isnan(aligned[i]) && std::isnan(after)) << "written beside the scratch";
      }
    }
  }
  expect_computed(c, memory, worst);
}

/// Cases that are compiled together, as that is quicker.
class Compilation {
 public:
  explicit Compilation(const Target& target = native_target(), Effort effort = Effort::quick)
      : target_(target), compiler_(make_compiler(target, effort)) {}

  void add(CompiledCase c) { cases_.push_back(std::move(c)); }
  bool empty() const { return cases_.empty(); }

  /// Compiles all and returns the object.
  std::string object() {
    std::vector<NamedCode> kernels;
    for (size_t i = 0; i < cases_.size(); ++i) {
      for (size_t k = 0; k < cases_[i].kernels.size(); ++k) {
        kernels.push_back({symbol(i, k), cases_[i].kernels[k]});
      }
    }
    return compiler_->object(kernels);
  }

  /// Returns the largest error of reals of each case that was run.
  const std::vector<double>& errors() const { return errors_; }

  /// Compiles and runs all cases; ends with the first that fails and tells its story.
  void run(Random& random) {
    std::unique_ptr<Device> device = make_device(target_);
    device->load(object());
    for (size_t i = 0; i < cases_.size(); ++i) {
      std::vector<lathe_kernel> functions;
      for (size_t k = 0; k < cases_[i].kernels.size(); ++k) {
        functions.push_back(reinterpret_cast<lathe_kernel>(device->find(symbol(i, k)).handle));
      }
      if (environment("LATHE_TELL", 0) != 0) std::cout << cases_[i].story << std::endl;
      errors_.push_back(0);
      run_case(cases_[i], functions, random, errors_.back());
      if (!testing::Test::HasFailure()) continue;
      std::string story = cases_[i].story;
      for (const Code& code : cases_[i].kernels) story += "kernel:\n" + print(code);
      ADD_FAILURE() << story;
      return;
    }
  }

 private:
  Target target_;
  std::unique_ptr<Compiler> compiler_;
  std::vector<CompiledCase> cases_;
  std::vector<double> errors_;

  static std::string symbol(size_t i, size_t k) { return fmt::format("case{}_kernel{}", i, k); }
};

/// Draws where the elements of a tensor lie: in blocks or not, in the middle of something larger.
inline Layout random_layout(Random& random, const std::vector<long>& shape) {
  if (shape.empty() || random.chance(40)) return row_major_layout(shape);
  long block =
      shape.size() >= 2 && random.chance(60) ? random.pick(std::vector<long>{4, 8, 16}) : 1;
  std::vector<long> whole = shape, before(shape.size(), 0);
  for (size_t i = 0; i < shape.size(); ++i) {
    if ((block > 1 && i == 1) || !random.chance(40)) continue;
    before[i] = random.between(0, 2);
    whole[i] += before[i] + random.between(0, 2);
  }
  Layout layout = blocked_layout(whole, block);
  for (size_t i = 0; i < shape.size(); ++i) layout.origin += before[i] * layout.axes[i].outer;
  return layout;
}

/// What the code of a case has.
struct Features {
  long guards = 0, ranges = 0, parts = 0, vectors = 0, tiles = 0, floors = 0, products = 0;
  long lanes = 0, prefetches = 0, scratch = 0, parallel = 0, strided = 0, shared_locals = 0;

  /// Counts what is in some kernel of the case.
  void add(const std::vector<Code>& kernels, const LoopTree& tree) {
    Features found;
    for (const Code& code : kernels) {
      found.parallel += code.parallel.empty() ? 0 : 1;
      found.scratch += code.scratch_bytes > 0 ? 1 : 0;
      std::set<size_t> set;
      found.look(code, code.body, set);
      for (size_t t : arguments_of(code))
        found.shared_locals += code.tensors[t].role == Role::local;
    }
    for (const auto& place : tree.places) found.look(place);
    auto once = [](long& sum, long n) { sum += n > 0 ? 1 : 0; };
    once(guards, found.guards);
    once(ranges, found.ranges);
    once(parts, found.parts);
    once(vectors, found.vectors);
    once(tiles, found.tiles);
    once(floors, found.floors);
    once(products, found.products);
    once(lanes, found.lanes);
    once(prefetches, found.prefetches);
    once(scratch, found.scratch);
    once(parallel, found.parallel);
    once(strided, found.strided);
    once(shared_locals, found.shared_locals);
  }

  std::string print() const {
    return fmt::format(
        "guards {}, ranges {}, parts {}, vectors {}, tiles {}, floors {}, products {}, lanes {}, "
        "prefetches {}, scratch {}, parallel {}, strided {}, shared locals {}",
        guards, ranges, parts, vectors, tiles, floors, products, lanes, prefetches, scratch,
        parallel, strided, shared_locals);
  }

 private:
  void look(const std::vector<LoopNode>& nodes) {
    for (const LoopNode& node : nodes) {
      ranges += node.kind == LoopNode::Kind::range ? 1 : 0;
      parts += node.kind == LoopNode::Kind::loop && node.from > 0 ? 1 : 0;
      look(node.body);
    }
  }

  /// "set": variables that have a value before the loop around.
  void look(const Code& code, const Block& block, std::set<size_t> set) {
    using Kind = Instruction::Kind;
    std::set<size_t> before = set;
    for (const Instruction& i : block) {
      guards += i.kind == Kind::guard ? 1 : 0;
      products += i.kind == Kind::fma ? 1 : 0;
      lanes += i.kind == Kind::splat || i.kind == Kind::sum || i.kind == Kind::maximum ? 1 : 0;
      prefetches += i.kind == Kind::prefetch ? 1 : 0;
      bool memory = i.kind == Kind::load || i.kind == Kind::store;
      floors += memory && !i.offset.is_linear() ? 1 : 0;
      bool sets = !i.body.empty() || memory ? i.kind == Kind::load : i.kind != Kind::prefetch;
      if (sets) {
        vectors += code.variables[i.to].lanes > 1 ? 1 : 0;
        strided += i.kind == Kind::load && code.variables[i.to].lanes > 1 && i.stride != 1 ? 1 : 0;
        tiles += i.kind == Kind::copy && before.contains(i.to) ? 1 : 0;
        set.insert(i.to);
      }
      if (i.kind == Kind::loop) look(code, i.body, set);
      if (i.kind == Kind::guard) look(code, i.body, before);
    }
  }
};

}  // namespace lathe::test
