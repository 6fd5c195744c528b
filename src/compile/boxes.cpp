// boxes.cpp: statements over boxes. Interface: boxes.h.
#include "compile/boxes.h"

#include <fmt/format.h>

#include "nest/builder.h"
#include "poly/relation.h"

namespace lathe {

std::vector<std::string> loops_of(const Statement& statement, const Access& access) {
  std::vector<isl::aff> parts = poly::parts(access.at);
  isl::space space = statement.domain.space();
  std::vector<std::string> names(parts.size());
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t k = 0; k < statement.dims.size(); ++k) {
      if (poly::same(parts[i], poly::coordinate(space, k))) names[i] = statement.dims[k];
    }
  }
  return names;
}

Statement copy_of_box(const Nest& nest, const std::string& name, const std::vector<long>& extents,
                      const std::vector<std::string>& names, size_t from, size_t to,
                      const std::vector<long>& corner) {
  Statement s;
  s.name = fresh_name(nest, name);
  std::vector<long> loops;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    loops.push_back(extents[i]);
    s.dims.push_back(names[i].empty() ? fmt::format("p{}", i) : names[i]);
  }
  s.domain = poly::box(nest.ctx(), loops);
  isl::space space = s.domain.space();
  std::vector<isl::aff> source, target;
  size_t next = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    source.push_back(extents[i] == 1 ? poly::constant(space, 0) : poly::coordinate(space, next++));
    target.push_back(source.back().add(poly::constant(space, corner[i])));
  }
  s.reads = {{from, poly::tuple(space, source)}};
  s.write = {to, poly::tuple(space, target)};
  s.value = read(0);
  s.origin = {s.name, poly::identity(space)};
  return s;
}

}  // namespace lathe
