// transform_frame.cpp: statements that replace another one. Interface: transform_frame.h.
#include "transforms/transform_frame.h"

#include <algorithm>

#include "poly/relation.h"

namespace lathe {

Frame::Frame(const Statement& old, const std::vector<size_t>& kept, const Extents& extents)
    : kept_(kept) {
  isl_set* domain = old.domain.copy();
  for (size_t i = old.dims.size(); i-- > 0;) {
    if (std::find(kept.begin(), kept.end(), i) != kept.end()) continue;
    domain = isl_set_project_out(domain, isl_dim_set, static_cast<unsigned>(i), 1);
  }
  std::vector<long> sizes;
  for (const auto& [name, extent] : extents) sizes.push_back(extent);
  isl::set box = poly::box(old.domain.ctx(), sizes);
  domain_ = poly::boxed(isl::manage(isl_set_flat_product(domain, box.release())));
  for (size_t i : kept) dims_.push_back(old.dims[i]);
  for (const auto& [name, extent] : extents) dims_.push_back(name);
  std::vector<isl::aff> all(old.dims.size(), poly::constant(domain_.space(), 0));
  for (size_t k = 0; k < kept.size(); ++k) all[kept[k]] = poly::coordinate(domain_.space(), k);
  old_ = poly::tuple(domain_.space(), all);
}

isl::aff Frame::operator[](const std::string& name) const {
  auto at = std::find(dims_.begin(), dims_.end(), name);
  return poly::coordinate(domain_.space(), static_cast<size_t>(at - dims_.begin()));
}

std::vector<isl::aff> Frame::kept() const {
  std::vector<isl::aff> result;
  for (size_t k = 0; k < kept_.size(); ++k) result.push_back(poly::coordinate(domain_.space(), k));
  return result;
}

void Frame::where_less(const isl::aff& index, long bound) {
  isl::set part = index.lt_set(poly::constant(domain_.space(), bound));
  domain_ = poly::boxed(domain_.intersect(part));
}

Statement Frame::statement(std::string name, Access write, std::vector<Access> reads) const {
  Statement s;
  s.name = std::move(name);
  s.dims = dims_;
  s.domain = domain_;
  s.write = std::move(write);
  s.update = Update::add;
  s.reads = std::move(reads);
  s.value = read(0);
  for (size_t i = 1; i < s.reads.size(); ++i) {
    s.value = call(Expr::Op::mul, {std::move(s.value), read(i)});
  }
  s.origin = {s.name, poly::identity(domain_.space())};
  return s;
}

std::vector<isl::aff> joined(std::vector<isl::aff> a, const std::vector<isl::aff>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace lathe
