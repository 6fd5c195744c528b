// choice_problem.cpp: choices by GLPK's branch and bound. Interface: choice_problem.h.
#include "search/choice_problem.h"

#include <glpk.h>

#include <cmath>
#include <memory>

#include "base/error.h"

namespace lathe {
namespace {

/// By how much the costs may be above the least, relatively. Measured times are less exact.
constexpr double gap = 1e-3;
/// Nodes of the tree that are looked at: a number and not a time, so that searches can be repeated.
constexpr long patience = 20000;
/// The solver says 0 or 1 for each choice, as a floating-point number: 1 is chosen.
constexpr double chosen = 0.5;

/// Is called at each node of the search tree; stops it when there were too many.
void count_nodes(glp_tree* tree, void* nodes) {
  if (glp_ios_reason(tree) != GLP_ISELECT) return;
  if (++*static_cast<long*>(nodes) > patience) glp_ios_terminate(tree);
}

/// Rows and columns of GLPK count from 1; so do its lists of entries.
struct Entries {
  std::vector<int> rows{0}, columns{0};
  std::vector<double> values{0};

  void add(int row, int column, double value) {
    rows.push_back(row);
    columns.push_back(column);
    values.push_back(value);
  }
};

/// A number of the problem, one of whose columns it is.
struct Column {
  size_t place, choice;
};

/// Bounds a row from one side or both. Amounts are scaled, so that all rows are of like size.
void set_bounds(glp_prob* lp, int row, double least, double most) {
  bool low = std::isfinite(least), high = std::isfinite(most);
  int kind = low && high ? (least == most ? GLP_FX : GLP_DB)
             : low       ? GLP_LO
             : high      ? GLP_UP
                         : GLP_FR;
  glp_set_row_bnds(lp, row, kind, low ? least : 0, high ? most : 0);
}

double largest(const ChoiceLimit& limit) {
  double most = 0;
  for (const auto& place : limit.amounts) {
    for (double amount : place) most = std::max(most, std::abs(amount));
  }
  return most > 0 ? most : 1;
}

}  // namespace

std::optional<std::vector<size_t>> cheapest(const ChoiceProblem& problem) {
  size_t places = problem.costs.size();
  glp_term_out(GLP_OFF);
  std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> lp(glp_create_prob(), glp_delete_prob);
  glp_set_obj_dir(lp.get(), GLP_MIN);
  glp_add_rows(lp.get(), static_cast<int>(places + problem.limits.size()));
  std::vector<Column> columns{{}};
  Entries entries;
  for (size_t p = 0; p < places; ++p) {
    glp_set_row_bnds(lp.get(), static_cast<int>(p) + 1, GLP_FX, 1, 1);
    for (size_t c = 0; c < problem.costs[p].size(); ++c) {
      if (!std::isfinite(problem.costs[p][c])) continue;
      int column = glp_add_cols(lp.get(), 1);
      glp_set_col_kind(lp.get(), column, GLP_BV);
      glp_set_obj_coef(lp.get(), column, problem.costs[p][c]);
      entries.add(static_cast<int>(p) + 1, column, 1);
      columns.push_back({p, c});
    }
  }
  for (size_t l = 0; l < problem.limits.size(); ++l) {
    const ChoiceLimit& limit = problem.limits[l];
    int row = static_cast<int>(places + l) + 1;
    double scale = 1 / largest(limit);
    set_bounds(lp.get(), row, limit.least * scale, limit.most * scale);
    for (size_t i = 1; i < columns.size(); ++i) {
      double amount = limit.amounts[columns[i].place][columns[i].choice];
      if (amount != 0) entries.add(row, static_cast<int>(i), amount * scale);
    }
  }
  glp_load_matrix(lp.get(), static_cast<int>(entries.rows.size()) - 1, entries.rows.data(),
                  entries.columns.data(), entries.values.data());
  glp_iocp how;
  glp_init_iocp(&how);
  how.presolve = GLP_ON;
  how.msg_lev = GLP_MSG_OFF;
  how.mip_gap = gap;
  long nodes = 0;
  how.cb_func = count_nodes;
  how.cb_info = &nodes;
  int status = glp_intopt(lp.get(), &how);
  bool solved = status == 0 || status == GLP_EMIPGAP || status == GLP_ESTOP;
  int found = glp_mip_status(lp.get());
  if (!solved || (found != GLP_OPT && found != GLP_FEAS)) return std::nullopt;
  std::vector<size_t> choice(places, 0);
  for (size_t i = 1; i < columns.size(); ++i) {
    if (glp_mip_col_val(lp.get(), static_cast<int>(i)) > chosen) {
      choice[columns[i].place] = columns[i].choice;
    }
  }
  return choice;
}

}  // namespace lathe
