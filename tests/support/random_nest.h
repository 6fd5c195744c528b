// Random small nests: operators, and nests with whatever steps could get wrong: several statements,
// shared loops, recurrences, domains that are no boxes, floors.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "nest/text.h"
#include "ops/op.h"
#include "support/random_case.h"

namespace lathe::test {

/// Returns the nest that a text names: an operator, or a nest in text form.
inline Nest load(isl::ctx ctx, const std::string& text) {
  return text.starts_with("nest ") ? parse_nest(ctx, text) : parse_op(ctx, text);
}

/// Writes a convolution with extents that neural steps can divide.
inline std::string random_convolution(Random& random) {
  std::vector<long> channels{2, 2, 4, 4, 3, 6};
  long co = random.pick(channels), ci = random.pick(channels);
  std::string out =
      fmt::format("conv(co={}, ci={}, oh={}, ow={}, kh={}, kw={}", co, ci, random.between(1, 4),
                  random.between(1, 2), random.between(1, 2), random.between(1, 2));
  if (random.chance(20)) out += fmt::format(", n={}", random.between(1, 2));
  if (random.chance(30)) out += ", bias=1";
  if (random.chance(20)) out += ", stride=2";
  if (random.chance(20)) out += ", dilation=2";
  if (random.chance(15) && co % 2 == 0 && ci % 2 == 0) out += ", groups=2";
  return out + ")";
}

/// Writes some operator.
inline std::string random_operator(Random& random) {
  auto size = [&](long most) { return random.between(1, most); };
  switch (random.between(0, 6)) {
    case 0:
      return fmt::format("matmul(i={}, j={}, k={})", size(5), size(5), size(5));
    case 1:
      return fmt::format("matmul(n=2, i={}, j={}, k={})", size(3), size(3), size(4));
    case 2:
      return fmt::format("max_pool(c={}, oh={}, ow={}, k={}, stride={})", size(3), size(3), size(3),
                         size(3), size(2));
    case 3:
      return fmt::format("depthwise(c={}, oh={}, ow={}, k=2, bias={})", size(4), size(3), size(3),
                         random.between(0, 1));
    case 4:
      return fmt::format("concat(c1={}, c2={}, h={}, w={})", size(4), size(4), size(3), size(3));
    case 5:
      return fmt::format("upsample(c={}, h={}, w={}, factor=2)", size(3), size(2), size(3));
    default:
      return random_convolution(random);
  }
}

/// Writes nests of one to three statements.
class NestWriter {
 public:
  explicit NestWriter(Random& random) : random_(random) {}

  std::string write() {
    long count = random_.pick(std::vector<long>{1, 1, 2, 2, 3});
    std::string statements;
    for (long s = 0; s < count; ++s) statements += statement(s);
    std::string tensors;
    for (const auto& [name, shape] : shapes_) tensors += declaration(name, shape);
    return "nest random\n" + tensors + statements + schedule();
  }

 private:
  struct Dim {
    std::string name;
    long extent;
  };
  struct Term {
    std::string text;
    long most;  // it is never negative
  };
  Random& random_;
  std::map<std::string, std::vector<long>> shapes_;
  std::map<std::string, std::string> updates_;  // of each tensor, besides "="
  std::vector<std::vector<Dim>> dims_;          // of each statement

  static bool is_written(const std::string& tensor) { return tensor < "D"; }

  std::string declaration(const std::string& name, const std::vector<long>& shape) {
    std::string role = name == "W" ? "weight" : !is_written(name) ? "input" : "output";
    if (is_written(name) && name != "A" && random_.chance(40)) role = "local";
    return fmt::format("tensor {}: {} {}[{}]\n", name, role, random_.pick({"f32", "f64", "i32"}),
                       fmt::join(shape, ", "));
  }

  Term index(const std::vector<Dim>& dims) {
    const Dim &a = random_.pick(dims), &b = random_.pick(dims);
    long last = a.extent - 1, shift = random_.between(1, 2);
    switch (random_.between(0, 15)) {
      case 0:
        return {fmt::format("{} - {}", last, a.name), last};
      case 1:
      case 2:
        return {fmt::format("{} + {}", a.name, b.name), last + b.extent - 1};
      case 3:
        return {fmt::format("2*{} + {}", a.name, b.name), 2 * last + b.extent - 1};
      case 4:
        return {fmt::format("{} / 2", a.name), last / 2};
      case 5:
        return {fmt::format("{} % 2", a.name), std::min(last, 1L)};
      case 6:
        return {fmt::format("({} + {}) / 2", a.name, b.name), (last + b.extent - 1) / 2};
      case 7:
        return {fmt::format("{}", shift), shift};
      case 8:
      case 9:
      case 10:
        return {fmt::format("{} + {}", a.name, shift), last + shift};
      default:
        return {a.name, last};
    }
  }

  std::string access(const std::string& tensor, const std::vector<Dim>& dims) {
    auto& shape = shapes_[tensor];
    if (shape.empty()) shape.assign(static_cast<size_t>(random_.between(1, 2)), 1);
    std::vector<std::string> indices;
    for (long& extent : shape) {
      Term term = index(dims);
      extent = std::max(extent, term.most + 1);
      indices.push_back(term.text);
    }
    return fmt::format("{}[{}]", tensor, fmt::join(indices, ", "));
  }

  /// A value that cannot grow without bounds when it is fed back.
  std::string clamped(const std::vector<Dim>& dims) {
    return fmt::format("min(max({}, -40), 40)", access(random_.pick({"A", "A", "B", "C"}), dims));
  }

  std::string value(const std::vector<Dim>& dims) {
    switch (random_.between(0, 7)) {
      case 0:
      case 1:
        return access("W", dims) + " * " + access("X", dims);
      case 2:
        return access("X", dims) + " - " + clamped(dims);
      case 3:
        return fmt::format("abs({} - {})", clamped(dims), access("X", dims));
      case 4:
        return fmt::format("{} + {}", clamped(dims), clamped(dims));
      case 5:
        return fmt::format("-{}", clamped(dims));
      default:
        return access("X", dims);
    }
  }

  std::string where(const std::vector<Dim>& dims) {
    const std::string &a = random_.pick(dims).name, &b = random_.pick(dims).name;
    switch (random_.between(0, 11)) {
      case 0:
        return fmt::format(" where {} <= {}", a, b);
      case 1:
        return fmt::format(" where {} + {} < {}", a, b, random_.between(1, 4));
      case 2:
        return fmt::format(" where {} % 2 = 0", a);
      case 3:
        return fmt::format(" where {} < 1 or {} < 2", a, b);
      case 4:
        return fmt::format(" where {} <= 2*{}, {} <= 3", a, b, b);
      default:
        return "";
    }
  }

  std::string statement(long number) {
    std::vector<Dim> dims;
    for (const char* name : {"i", "j", "k"}) {
      if (random_.chance(65)) dims.push_back({name, random_.between(2, 4)});
    }
    if (dims.empty()) dims.push_back({"i", random_.between(2, 6)});
    if (random_.chance(60) && !dims_.empty()) dims = dims_.front();
    dims_.push_back(dims);
    std::vector<std::string> bounds;
    for (const Dim& d : dims) bounds.push_back(fmt::format("{} < {}", d.name, d.extent));
    std::string tensor = random_.pick({"A", "A", "B", "C"});
    std::string written = access(tensor, dims);
    auto& update = updates_.try_emplace(tensor, random_.pick({"+=", "+=", "max="})).first->second;
    return fmt::format("statement S{}[{}]{}:\n  {} {} {}\n", number, fmt::join(bounds, ", "),
                       where(dims), written, random_.chance(40) ? "=" : update, value(dims));
  }

  /// The loops of one statement from "first" on, then the statement.
  std::string loops(size_t s, const std::vector<Dim>& dims, size_t first, size_t indent) {
    std::vector<std::string> headers;
    for (size_t i = first; i < dims.size(); ++i) {
      const std::string& name = dims[i].name;
      if (dims[i].extent > 2 && random_.chance(15)) {
        headers.push_back(fmt::format("{}.o = {} / 2, {}.i = {} % 2", name, name, name, name));
      } else {
        headers.push_back(name);
      }
    }
    std::string margin(indent, ' ');
    std::string own = headers.empty() ? "" : fmt::format("for {}: ", fmt::join(headers, ", "));
    return fmt::format("{}{}S{}\n", margin, own, s);
  }

  /// Some statements in turn, each in its own loops or all in one.
  std::string schedule() {
    if (random_.chance(25)) return "";
    std::vector<std::vector<Dim>> dims = dims_;
    for (auto& list : dims) {
      if (random_.chance(50)) random_.shuffle(list);
    }
    size_t shared = random_.chance(70) ? static_cast<size_t>(random_.between(1, 2)) : 0;
    for (const auto& list : dims) shared = std::min(shared, list.size());
    std::string out = "schedule:\n", headers;
    for (size_t d = 0; d < shared; ++d) {
      std::vector<std::string> definitions;
      for (const auto& list : dims) definitions.push_back(list[d].name);
      headers += fmt::format("{}s{} = {}", d == 0 ? "" : ", ", d, fmt::join(definitions, " | "));
    }
    if (shared > 0) out += fmt::format("  for {}:\n", headers);
    for (size_t s = 0; s < dims.size(); ++s) out += loops(s, dims[s], shared, shared > 0 ? 4 : 2);
    return out;
  }
};

/// Writes a recurrence as textbooks have them.
inline std::string random_recurrence(Random& random) {
  long n = random.between(2, 6), m = random.between(2, 5);
  std::string tensors = fmt::format(
      "nest recurrence\ntensor A: output f32[{}, {}]\ntensor L: output f32[{}]\n"
      "tensor X: input f32[{}, {}]\n",
      n + m, n + m, n + m, n + m, n + m);
  std::string domain = fmt::format("statement S[i < {}, j < {}]:\n  ", n, m);
  std::string body =
      random.pick({"A[i + 1, j] = A[i, j + 1] + X[i, j]", "A[i + 1, j + 1] = A[i, j] + X[i, j]",
                   "A[i + 1, j + 1] = max(A[i, j + 1], A[i + 1, j]) + X[i, j]",
                   "A[i, j + 1] = A[i, j] + X[i, j]", "A[i, j] = A[i + 1, j + 1] + X[i, j]",
                   "A[i, j] = max(A[i, j + 1], X[i, j])", "A[i + 1, j] += X[i, j]",
                   "A[i + 1, j] max= X[i, j]", "L[i + j] = L[i + j + 1] + X[i, j]",
                   "L[i] = L[i] - X[i, j]", "L[j] = X[i, j]", "L[i + j] += X[i, j]",
                   "A[i, j] = X[j / 2, i / 2] - A[i / 2, j / 2]", "A[j % 2, i] = X[i, j]"});
  std::string copy = fmt::format("statement T[i < {}, j < {}]:\n  ", n, m) +
                     random.pick({"A[i + 1, j + 1] = X[i, j]", "L[i + j] += A[i, j]",
                                  "L[i + 1] = A[i, j]", "L[j] = L[i + 1]"});
  std::string order = random.chance(50) ? "i, j" : "j, i";
  switch (random.between(0, 3)) {
    case 0:
      return tensors + domain + body + "\n";
    case 1:
      return tensors + domain + body + "\n" + copy + "\n";
    case 2:
      return tensors + domain + body + "\n" + copy + "\nschedule:\n  for " + order +
             ":\n    S\n    T\n";
    default:
      return tensors + domain + body + "\n" + copy + "\nschedule:\n  for i:\n    for j: T\n" +
             "    for j: S\n";
  }
}

/// Writes some nest: an operator, a recurrence or a nest without a plan.
inline std::string random_nest(Random& random) {
  long kind = random.between(0, 9);
  if (kind < 2) return random_operator(random);
  if (kind < 4) return random_recurrence(random);
  return NestWriter(random).write();
}

}  // namespace lathe::test
