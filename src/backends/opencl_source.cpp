// opencl_source.cpp: OpenCL C, instruction by instruction. Interface: opencl_source.h.
//
// The language has vectors of 2, 4, 8 and 16 lanes. A variable with another number of lanes is
// several of them: its pieces. Memory of f16 and bf16 is read as ushort, since not every device
// computes with them.
#include "backends/opencl_source.h"

#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "backends/opencl_words.h"
#include "base/error.h"
#include "codegen/quads.h"
#include "poly/linear.h"

namespace lathe {
namespace {

using namespace opencl;

/// Returns how many lanes each piece of a variable has.
std::vector<long> pieces_of(long lanes) {
  std::vector<long> pieces;
  for (long size : {16L, 8L, 4L, 2L, 1L}) {
    for (; lanes >= size; lanes -= size) pieces.push_back(size);
  }
  return pieces;
}

class Source {
 public:
  explicit Source(const NamedCode& kernel) : code_(kernel.code), symbol_(kernel.symbol) {
    for (const Layout& layout : code_.layouts) wide_ = wide_ || layout.size >= (1L << 31);
    for (const Quad& quad : find_quads(code_)) {
      for (const Instruction* part : quad.parts) quads_[part] = std::nullopt;
      quads_[quad.where] = quad;
    }
  }

  std::string run() {
    header();
    for (size_t v = 0; v < code_.variables.size(); ++v) declare(v);
    block(code_.body);
    return out_ + "}\n";
  }

 private:
  const Code& code_;
  const std::string& symbol_;
  bool wide_ = false;                                        // do offsets need 64 bits?
  std::map<const Instruction*, std::optional<Quad>> quads_;  // where one is done; its other parts
  std::string out_;
  std::string margin_ = "  ";
  std::vector<poly::Interval> ranges_;  // of the coordinates

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += margin_ + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  std::string index_type() const { return wide_ ? "long" : "int"; }
  Space space(size_t tensor) const { return code_.spaces[tensor]; }
  Element element(size_t tensor) const { return code_.tensors[tensor].element; }
  long lanes(size_t variable) const { return code_.variables[variable].lanes; }
  Number number(size_t variable) const { return code_.variables[variable].number; }

  // ---- the frame --------------------------------------------------------------------------

  void header() {
    std::vector<std::string> parameters;
    std::vector<size_t> arguments = arguments_of(code_);
    for (size_t t : arguments) {
      parameters.push_back(fmt::format("__global uchar* b{0}, long o{0}", t));
    }
    out_ += fmt::format("__kernel __attribute__((reqd_work_group_size({}, {}, {})))\n",
                        code_.extent(Mark::thread_x), code_.extent(Mark::thread_y),
                        code_.extent(Mark::thread_z));
    out_ += fmt::format("void {}({}) {{\n", symbol_, fmt::join(parameters, ", "));
    for (size_t t : arguments) {
      std::string type = memory_type(element(t));
      line("__global {}* t{} = (__global {}*)(b{} + o{});", type, t, type, t, t);
    }
    for (size_t t = 0; t < code_.tensors.size(); ++t) {
      if (!code_.used[t] || space(t) == Space::global) continue;
      bool begins = space(t) == Space::privately && is_stored_by_some(code_.body, t);
      line("{} {} t{}[{}]{};", space_word(space(t)), memory_type(element(t)), t,
           std::max(1L, code_.layouts[t].size),
           space(t) == Space::shared ? " __attribute__((aligned(16)))"
           : begins                  ? " = {0}"
                                     : "");
    }
    for (size_t i = 0; i < code_.axes.size(); ++i) {
      const Code::Axis& axis = code_.axes[i];
      std::string name = name_of(axis.mark);
      line("const {} i{} = {}({});", index_type(), i,
           name.starts_with("block") ? "get_group_id" : "get_local_id", name.back() - 'x');
      ranges_.push_back({0, axis.extent - 1});
    }
  }

  void declare(size_t v) {
    std::vector<long> pieces = pieces_of(lanes(v));
    for (size_t p = 0; p < pieces.size(); ++p) {
      line("{} {};", vector_of(number_type(number(v)), pieces[p]), piece(v, p));
    }
  }

  static std::string piece(size_t v, size_t p) {
    return p == 0 ? fmt::format("v{}", v) : fmt::format("v{}_{}", v, p);
  }

  /// Returns one lane of a variable.
  std::string lane(size_t v, long k) const {
    std::vector<long> pieces = pieces_of(lanes(v));
    size_t p = 0;
    while (k >= pieces[p]) k -= pieces[p++];
    if (pieces[p] == 1) return piece(v, p);
    return fmt::format("{}.s{:x}", piece(v, p), k);
  }

  /// Returns piece "p", of "size" lanes, of a variable that may have one lane for all.
  std::string operand(size_t v, size_t p, long size) const {
    if (lanes(v) > 1 || size == 1) return piece(v, lanes(v) > 1 ? p : 0);
    return fmt::format("({})({})", vector_of(number_type(number(v)), size), piece(v, 0));
  }

  // ---- offsets ----------------------------------------------------------------------------

  std::string integer(const poly::Affine& a) const {
    std::string sum;
    auto add = [&](long factor, const std::string& term) {
      if (factor == 0) return;
      if (!sum.empty())
        sum += factor < 0 ? " - " : " + ";
      else if (factor < 0)
        sum += "-";
      long size = std::labs(factor);
      sum += term.empty() ? fmt::format("{}", size)
             : size == 1  ? term
                          : fmt::format("{}*{}", size, term);
    };
    for (size_t i = 0; i < a.coefficients.size(); ++i) {
      add(a.coefficients[i], fmt::format("i{}", i));
    }
    for (const auto& floor : a.floors) add(floor.coefficient, integer(floor.of));
    add(a.constant, "");
    if (sum.empty()) sum = "0";
    if (a.divisor == 1)
      return a.floors.empty() && sum.find(' ') == sum.npos ? sum : "(" + sum + ")";
    std::vector<poly::Interval> ranges = ranges_;
    ranges.resize(std::max(ranges.size(), a.coefficients.size()), {0, 0});
    if (poly::bounds(a, ranges).lower >= 0) return fmt::format("(({}) / {})", sum, a.divisor);
    return fmt::format("lathe_floor({}, {})", sum, a.divisor);
  }

  /// Returns where an access is, so many elements further.
  std::string place(const Instruction& i, long further) const {
    poly::Affine at = i.offset;
    at.constant += further;
    return fmt::format("t{} + {}", i.tensor, integer(at));
  }

  // ---- instructions -----------------------------------------------------------------------

  void block(const Block& list) {
    for (const Instruction& i : list) {
      auto found = quads_.find(&i);
      if (found == quads_.end()) {
        instruction(i);
      } else if (found->second) {
        quad(*found->second);
      }
    }
  }

  void inside(const Block& body, bool waits = false) {
    margin_ += "  ";
    block(body);
    if (waits) barrier();
    margin_.resize(margin_.size() - 2);
    line("}}");
  }

  void instruction(const Instruction& i) {
    using Kind = Instruction::Kind;
    switch (i.kind) {
      case Kind::loop:
        return loop(i);
      case Kind::guard:
        return guard(i);
      case Kind::load:
        return load(i);
      case Kind::store:
        return store(i);
      case Kind::panels:
        check(false, "GPUs have no panels");
        return;
      case Kind::prefetch:
        return;
      case Kind::barrier:
        return barrier();
      case Kind::number:
        return each(i, [&](size_t, long size) {
          std::string type = vector_of(number_type(number(i.to)), size);
          return fmt::format("({})({})", type, literal(i.number, number(i.to)));
        });
      case Kind::apply:
        return apply(i);
      case Kind::fma:
        return each(i, [&](size_t p, long size) {
          std::string a = operand(i.args[0], p, size), b = operand(i.args[1], p, size),
                      c = operand(i.args[2], p, size);
          return is_float(number(i.to)) ? fmt::format("LATHE_FMA({}, {}, {})", a, b, c)
                                        : fmt::format("{} * {} + {}", a, b, c);
        });
      case Kind::dot:
        fail("OpenCL kernels have no dot products");
      case Kind::matrix:
        fail("OpenCL kernels have no products of matrices");
      case Kind::splat:
        return each(i, [&](size_t, long size) {
          return fmt::format("({})({})", vector_of(number_type(number(i.to)), size),
                             lane(i.args[0], i.lane));
        });
      case Kind::copy:
        return each(i, [&](size_t p, long size) { return operand(i.args[0], p, size); });
      case Kind::convert:
        return each(i, [&](size_t p, long size) {
          return converted(operand(i.args[0], p, size), number(i.args[0]), number(i.to), size);
        });
      case Kind::sum:
      case Kind::maximum:
        return across(i);
    }
  }

  /// Loads or stores four elements at once.
  void quad(const Quad& quad) {
    const Instruction& first = *quad.parts[0];
    std::string at =
        fmt::format("*({} float4*)({})", space_word(space(first.tensor)), place(first, 0));
    if (first.kind == Instruction::Kind::store) {
      std::vector<std::string> values;
      for (const Instruction* part : quad.parts) values.push_back(piece(part->args[0], 0));
      return line("{} = (float4)({});", at, fmt::join(values, ", "));
    }
    line("{{");
    margin_ += "  ";
    line("const float4 q = {};", at);
    for (size_t k = 0; k < quad.parts.size(); ++k) {
      line("{} = q.s{};", piece(quad.parts[k]->to, 0), k);
    }
    margin_.resize(margin_.size() - 2);
    line("}}");
  }

  /// Sets each piece of a variable.
  template <class Value>
  void each(const Instruction& i, Value value) {
    std::vector<long> pieces = pieces_of(lanes(i.to));
    for (size_t p = 0; p < pieces.size(); ++p) {
      line("{} = {};", piece(i.to, p), value(p, pieces[p]));
    }
  }

  void barrier() { line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"); }

  /// Does a guard come after the last barrier of a loop? There PoCL (3.1) would lead the threads
  /// that a guard leaves out past the next one, too, and then ends the process. It does not lead
  /// them past a barrier.
  static bool ends_in_guard(const Block& body) {
    bool waited = false, guarded = false;
    for (const Instruction& i : body) {
      bool waits = i.kind == Instruction::Kind::barrier || has_barrier(i.body);
      waited = waited || waits;
      guarded = !waits && (guarded || i.kind == Instruction::Kind::guard);
    }
    return waited && guarded;
  }

  void loop(const Instruction& i) {
    line("for ({0} i{1} = {2}; i{1} < {3}; ++i{1}) {{", index_type(), i.depth, i.from, i.end);
    if (ranges_.size() <= i.depth) ranges_.resize(i.depth + 1, {0, 0});
    poly::Interval outer = std::exchange(ranges_[i.depth], {i.from, i.end - 1});
    inside(i.body, ends_in_guard(i.body));
    ranges_[i.depth] = outer;
  }

  void guard(const Instruction& i) {
    std::vector<std::string> pieces;
    for (const auto& piece : i.guard) {
      std::vector<std::string> parts{"1"};
      for (const poly::Constraint& c : piece) {
        parts.push_back(fmt::format("{} {} 0", integer(c.expression), c.equality ? "==" : ">="));
      }
      if (parts.size() > 1) parts.erase(parts.begin());
      pieces.push_back(fmt::format("({})", fmt::join(parts, " && ")));
    }
    line("if ({}) {{", fmt::join(pieces, " || "));
    inside(i.body);
  }

  /// Takes the sum of all lanes, or the greatest.
  void across(const Instruction& i) {
    size_t from = i.args[0];
    bool sum = i.kind == Instruction::Kind::sum;
    line("{} = {};", piece(i.to, 0), lane(from, 0));
    for (long k = 1; k < lanes(from); ++k) {
      std::string one = lane(from, k), all = piece(i.to, 0);
      line("{} = {};", all,
           sum ? fmt::format("{} + {}", all, one) : larger(all, one, 1, number(i.to)));
    }
  }

  // ---- functions --------------------------------------------------------------------------

  void apply(const Instruction& i) {
    using Op = Expr::Op;
    bool by_lanes =
        !is_float(number(i.to)) && (i.op == Op::div || i.op == Op::mod || i.op == Op::rem ||
                                    i.op == Op::pow || i.op == Op::shift);
    if (by_lanes) return apply_by_lanes(i);
    each(i, [&](size_t p, long size) {
      std::vector<std::string> a;
      for (size_t arg : i.args) a.push_back(operand(arg, p, size));
      return applied(i.op, a, size, number(i.to));
    });
  }

  static const char* helper_of(Expr::Op op) {
    switch (op) {
      case Expr::Op::div:
        return "div";
      case Expr::Op::mod:
        return "mod";
      case Expr::Op::rem:
        return "rem";
      case Expr::Op::pow:
        return "pow";
      default:
        return "shift";
    }
  }

  /// Functions of integers that the language does not have: one lane after the other.
  void apply_by_lanes(const Instruction& i) {
    std::string type = number_type(number(i.to));
    for (long k = 0; k < lanes(i.to); ++k) {
      std::vector<std::string> a;
      for (size_t arg : i.args) a.push_back(lane(arg, lanes(arg) > 1 ? k : 0));
      line("{} = ({})lathe_{}({});", lane(i.to, k), type, helper_of(i.op), fmt::join(a, ", "));
    }
  }

  // ---- memory -----------------------------------------------------------------------------

  std::string load_at(const std::string& at, size_t tensor, Number to, long size) const {
    Element from = element(tensor);
    if (from == Element::f16) {
      std::string half =
          fmt::format("vload_half{}(0, (const {} half*)({}))",
                      size == 1 ? "" : std::to_string(size), space_word(space(tensor)), at);
      if (to == Number::f32) return half;
      bool whole = !is_float(to);
      return fmt::format("convert_{}{}({})", vector_of(number_type(to), size), whole ? "_sat" : "",
                         half);
    }
    std::string value =
        size == 1 ? fmt::format("*({})", at) : fmt::format("vload{}(0, {})", size, at);
    return loaded(value, from, to, size);
  }

  void load(const Instruction& i) {
    if (!i.picked.empty()) return load_picked(i);
    std::vector<long> pieces = pieces_of(lanes(i.to));
    long first = 0;
    for (size_t p = 0; p < pieces.size(); ++p) {
      if (pieces[p] == 1 || i.stride == 1) {
        line("{} = {};", piece(i.to, p),
             load_at(place(i, first * i.stride), i.tensor, number(i.to), pieces[p]));
      } else {
        for (long k = 0; k < pieces[p]; ++k) {
          line("{} = {};", lane(i.to, first + k),
               load_at(place(i, (first + k) * i.stride), i.tensor, number(i.to), 1));
        }
      }
      first += pieces[p];
    }
  }

  /// Loads what indices choose, lane by lane.
  void load_picked(const Instruction& i) {
    for (long k = 0; k < lanes(i.to); ++k) {
      std::string at = place(i, k * i.stride);
      for (size_t a = 0; a < i.picked.size(); ++a) {
        size_t from = i.args[a];
        std::string value = lane(from, lanes(from) > 1 ? k : 0);
        if (is_float(number(from))) value = fmt::format("convert_long_sat({})", value);
        const Instruction::Picked& along = i.picked[a];
        std::string index = fmt::format("lathe_pick({}, {})", value, along.extent);
        at += along.axis.block == 1
                  ? fmt::format(" + {}*{}", along.axis.outer, index)
                  : fmt::format(" + {0}*({1} / {2}) + {3}*({1} % {2})", along.axis.outer, index,
                                along.axis.block, along.axis.inner);
      }
      line("{} = {};", lane(i.to, k), load_at(at, i.tensor, number(i.to), 1));
    }
  }

  void store(const Instruction& i) {
    size_t value = i.args[0];
    std::vector<long> pieces = pieces_of(i.lane);
    long first = 0;
    for (size_t p = 0; p < pieces.size(); ++p) {
      if (pieces[p] == 1 || i.stride == 1) {
        store_at(place(i, first * i.stride), i.tensor, operand(value, p, pieces[p]), number(value),
                 pieces[p]);
      } else {
        for (long k = first; k < first + pieces[p]; ++k) {
          store_at(place(i, k * i.stride), i.tensor, lane(value, lanes(value) > 1 ? k : 0),
                   number(value), 1);
        }
      }
      first += pieces[p];
    }
  }

  void store_at(const std::string& at, size_t tensor, const std::string& value, Number from,
                long size) {
    Element to = element(tensor);
    std::string lanes = size == 1 ? "" : std::to_string(size);
    if (to == Element::f16) {
      return line("vstore_half{}_rte({}, 0, ({} half*)({}));", lanes,
                  converted(value, from, Number::f32, size), space_word(space(tensor)), at);
    }
    std::string kept = stored(value, from, to, size);
    if (size == 1) return line("*({}) = {};", at, kept);
    line("vstore{}({}, 0, {});", size, kept, at);
  }
};

}  // namespace

std::string opencl_kernel(const NamedCode& kernel) { return Source(kernel).run(); }

}  // namespace lathe
