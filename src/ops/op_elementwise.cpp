// op_elementwise.cpp: operators that treat each element alone. Interface: op_elementwise.h.
#include "ops/op_elementwise.h"

#include "base/error.h"
#include "ops/op_shape.h"

namespace lathe::ops {

StatementBuilder::Extents element_dims(std::string_view op, const Params& p) {
  check_sizes(op, p, {"c"});
  StatementBuilder::Extents dims;
  for (const char* name : {"n", "c", "h", "w"}) {
    if (p[name] < 0) fail("{}: {} must be at least 0, not {}", op, name, p[name]);
    if (p[name] > 0) dims.emplace_back(name, p[name]);
  }
  return dims;
}

std::vector<long> shape(const StatementBuilder::Extents& dims) {
  std::vector<long> result;
  for (const auto& [name, extent] : dims) result.push_back(extent);
  return result;
}

std::vector<Index> at(const StatementBuilder& s, const StatementBuilder::Extents& dims) {
  std::vector<Index> result;
  for (const auto& [name, extent] : dims) result.push_back(s[name]);
  return result;
}

std::vector<Param> element_params(const std::vector<Param>& more) {
  std::vector<Param> params{batch_param(),
                            {"c", std::nullopt, "channels"},
                            {"h", 0, "rows; 0: no such dimension"},
                            {"w", 0, "columns; 0: no such dimension"}};
  params.insert(params.end(), more.begin(), more.end());
  return params;
}

Nest unary_nest(isl::ctx ctx, const std::string& op, const Params& p,
                const std::function<Expr(Expr)>& f) {
  StatementBuilder::Extents dims = element_dims(op, p);
  NestBuilder b(ctx, op);
  size_t I = b.tensor("I", Role::input, shape(dims));
  size_t O = b.tensor("O", Role::output, shape(dims));
  auto& s = b.statement(op, dims);
  s.assign(O, at(s, dims), f(s.read(I, at(s, dims))));
  return b.build();
}

Nest binary_nest(isl::ctx ctx, const std::string& op, const Params& p,
                 const std::function<Expr(Expr, Expr)>& f) {
  StatementBuilder::Extents dims = element_dims(op, p);
  NestBuilder b(ctx, op);
  auto& s = b.statement(op, dims);
  std::vector<long> second_shape = shape(dims);
  std::vector<Index> second_at = at(s, dims);
  for (const char* name : {"n", "c", "h", "w"}) {
    if (!is_set(op, p, fmt::format("b{}", name))) continue;
    if (p[name] == 0) fail("{}: b{}=1 needs the dimension {}, which is 0", op, name, name);
    size_t i = 0;
    while (dims[i].first != name) ++i;
    second_shape[i] = 1;
    second_at[i] = s.at(0);
  }
  size_t A = b.tensor("A", Role::input, shape(dims));
  size_t B = b.tensor("B", Role::input, second_shape);
  size_t O = b.tensor("O", Role::output, shape(dims));
  Expr first = s.read(A, at(s, dims)), second = s.read(B, second_at);
  s.assign(O, at(s, dims), f(first, second));
  return b.build();
}

Op unary_op(const std::string& name, const std::string& summary,
            Nest (*nest)(isl::ctx, const Params&)) {
  return {name,
          summary,
          element_params(),
          nest,
          {name + "(c=3, h=4, w=5)", name + "(n=2, c=3, h=2, w=2)", name + "(c=7)"}};
}

Op binary_op(const std::string& name, const std::string& summary,
             Nest (*nest)(isl::ctx, const Params&)) {
  return {name,
          summary,
          element_params({{"bn", 0, "1: B has one sample for all"},
                          {"bc", 0, "1: B has one channel for all"},
                          {"bh", 0, "1: B has one row for all"},
                          {"bw", 0, "1: B has one column for all"}}),
          nest,
          {name + "(c=3, h=4, w=5)", name + "(n=2, c=3, h=2, w=4, bh=1, bw=1)",
           name + "(n=2, c=7, bn=1)"}};
}

}  // namespace lathe::ops
