// print_code.cpp: vector code as text. Interface: print() of code.h.
#include <fmt/ranges.h>

#include "codegen/code.h"

namespace lathe {
namespace {

class Printer {
 public:
  explicit Printer(const Code& code) : code_(code) {
    size_t depth = 0;
    depth = std::max(code.parallel.size(), code.axes.size());
    deepen(code.body, depth);
    for (size_t i = 0; i < depth; ++i) names_.push_back(fmt::format("i{}", i));
  }

  std::string run() {
    std::string margin;
    for (size_t i = 0; i < code_.parallel.size(); ++i) {
      out_ += fmt::format("{}parallel for i{} < {}:\n", margin, i, code_.parallel[i]);
      margin += "  ";
    }
    for (size_t i = 0; i < code_.axes.size(); ++i) {
      out_ += fmt::format("{} i{} < {}:\n", name_of(code_.axes[i].mark), i, code_.axes[i].extent);
      margin = "  ";
    }
    print(code_.body, margin);
    return out_;
  }

 private:
  const Code& code_;
  std::vector<std::string> names_;
  std::string out_;

  static void deepen(const Block& block, size_t& depth) {
    for (const Instruction& i : block) {
      depth = std::max(depth, i.offset.coefficients.size());
      for (const auto& piece : i.guard) {
        for (const auto& c : piece) depth = std::max(depth, c.expression.coefficients.size());
      }
      if (i.kind == Instruction::Kind::loop) depth = std::max(depth, i.depth + 1);
      deepen(i.body, depth);
    }
  }

  std::string place(const Instruction& i) const {
    std::string text =
        fmt::format("{} + {}", code_.tensors[i.tensor].name, poly::text(i.offset, names_));
    for (size_t k = 0; k < i.picked.size(); ++k) {
      const Layout::Axis& axis = i.picked[k].axis;
      text += axis.block == 1
                  ? fmt::format(" + {}*v{}", axis.outer, i.args[k])
                  : fmt::format(" + {}*(v{} / {}) + {}*(v{} mod {})", axis.outer, i.args[k],
                                axis.block, axis.inner, i.args[k], axis.block);
    }
    return text;
  }

  std::string condition(const Guard& guard) const {
    std::vector<std::string> pieces;
    for (const auto& piece : guard) {
      std::vector<std::string> parts;
      for (const auto& c : piece) {
        parts.push_back(poly::text(c.expression, names_) + (c.equality ? " = 0" : " >= 0"));
      }
      pieces.push_back(fmt::format("{}", fmt::join(parts, " and ")));
    }
    return fmt::format("{}", fmt::join(pieces, " or "));
  }

  /// Prints how far the lanes are apart, unless they lie side by side.
  static std::string apart(const Instruction& i, long lanes) {
    std::string rows = i.row_stride != 0 ? fmt::format(", rows by {}", i.row_stride) : "";
    return (lanes > 1 && i.stride != 1 ? fmt::format(" by {}", i.stride) : "") + rows;
  }

  void print(const Block& block, const std::string& margin) {
    for (const Instruction& i : block) print(i, margin);
  }

  void print(const Instruction& i, const std::string& margin) {
    using Kind = Instruction::Kind;
    auto line = [&](const std::string& text) { out_ += margin + text + "\n"; };
    auto set = [&](const std::string& text) {
      long lanes = code_.variables[i.to].lanes;
      Number number = code_.variables[i.to].number;
      std::string type = number == code_.number ? "" : fmt::format("  {}", name_of(number));
      long rows = code_.variables[i.to].rows;
      std::string shape = rows > 0    ? fmt::format("  {} rows x{}", rows, lanes)
                          : lanes > 1 ? fmt::format("  x{}", lanes)
                                      : "";
      line(fmt::format("v{} = {}{}{}", i.to, text, shape, type));
    };
    auto variables = [&] {
      std::vector<std::string> names;
      for (size_t a : i.args) names.push_back(fmt::format("v{}", a));
      return fmt::format("{}", fmt::join(names, ", "));
    };
    switch (i.kind) {
      case Kind::loop:
        line(fmt::format("for {} <= i{} < {}:", i.from, i.depth, i.end));
        return print(i.body, margin + "  ");
      case Kind::guard: {
        line(fmt::format("if {}:", condition(i.guard)));
        return print(i.body, margin + "  ");
      }
      case Kind::load:
        return set("load " + place(i) + apart(i, code_.variables[i.to].lanes) +
                   (i.guard.empty() ? "" : "  where " + condition(i.guard)));
      case Kind::store:
        return line(fmt::format("store {} at {}{}{}", variables(), place(i), apart(i, i.lane),
                                i.lane > 1 ? fmt::format("  x{}", i.lane) : ""));
      case Kind::prefetch:
        return line("prefetch " + place(i));
      case Kind::number:
        return set(fmt::format("{}", i.number));
      case Kind::apply:
        return set(fmt::format("{}({})", function_of(i.op).name, variables()));
      case Kind::fma:
        return set(fmt::format("v{} * v{} + v{}", i.args[0], i.args[1], i.args[2]));
      case Kind::dot:
        return set(fmt::format("dot(v{}, lanes {} of v{}) + v{}", i.args[0], i.lane, i.args[1],
                               i.args[2]));
      case Kind::panels:
        return set(fmt::format("panel v{} * panel v{} + v{}", i.args[0], i.args[1], i.args[2]));
      case Kind::matrix:
        return set(fmt::format("matrix({})", variables()));
      case Kind::splat:
        return set(fmt::format("lane {} of {}", i.lane, variables()));
      case Kind::copy:
      case Kind::convert:
        return set(variables());
      case Kind::sum:
        return set(fmt::format("sum of {}", variables()));
      case Kind::maximum:
        return set(fmt::format("greatest of {}", variables()));
      case Kind::barrier:
        return line("barrier");
    }
  }
};

}  // namespace

std::string print(const Code& code) { return Printer(code).run(); }

}  // namespace lathe
