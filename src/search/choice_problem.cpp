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

/// Where the choices of each place are among the columns; 0: not to be chosen.
using ColumnTable = std::vector<std::vector<int>>;

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

/// Adds a column for each choice, and a row for each place: one of its choices is taken.
ColumnTable add_choices(glp_prob* lp, const ChoiceTable& costs, Entries& entries) {
  ColumnTable columns;
  for (const std::vector<double>& place : costs) {
    int row = glp_add_rows(lp, 1);
    glp_set_row_bnds(lp, row, GLP_FX, 1, 1);
    columns.emplace_back(place.size(), 0);
    for (size_t c = 0; c < place.size(); ++c) {
      if (!std::isfinite(place[c])) continue;
      int column = glp_add_cols(lp, 1);
      glp_set_col_kind(lp, column, GLP_BV);
      glp_set_obj_coef(lp, column, place[c]);
      entries.add(row, column, 1);
      columns.back()[c] = column;
    }
  }
  return columns;
}

void add_limit(glp_prob* lp, const ChoiceLimit& limit, const ColumnTable& columns,
               Entries& entries) {
  int row = glp_add_rows(lp, 1);
  double scale = 1 / largest(limit);
  set_bounds(lp, row, limit.least * scale, limit.most * scale);
  for (size_t p = 0; p < limit.amounts.size(); ++p) {
    for (size_t c = 0; c < limit.amounts[p].size(); ++c) {
      double amount = limit.amounts[p][c];
      if (columns[p][c] != 0 && amount != 0) entries.add(row, columns[p][c], amount * scale);
    }
  }
}

void add_agreement(glp_prob* lp, const ChoiceAgreement& agreement, const ColumnTable& columns,
                   Entries& entries) {
  int row = glp_add_rows(lp, 1);
  glp_set_row_bnds(lp, row, GLP_FX, 0, 0);
  auto add = [&](const std::vector<PlacedChoice>& side, double sign) {
    for (const PlacedChoice& each : side) {
      int column = columns[each.place][each.choice];
      if (column != 0) entries.add(row, column, sign);
    }
  };
  add(agreement.first, 1);
  add(agreement.second, -1);
}

}  // namespace

std::optional<std::vector<size_t>> cheapest(const ChoiceProblem& problem) {
  glp_term_out(GLP_OFF);
  std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> lp(glp_create_prob(), glp_delete_prob);
  glp_set_obj_dir(lp.get(), GLP_MIN);
  Entries entries;
  ColumnTable columns = add_choices(lp.get(), problem.costs, entries);
  for (const ChoiceLimit& limit : problem.limits) add_limit(lp.get(), limit, columns, entries);
  for (const ChoiceAgreement& agreement : problem.agreements) {
    add_agreement(lp.get(), agreement, columns, entries);
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
  std::vector<size_t> choice(columns.size(), 0);
  for (size_t p = 0; p < columns.size(); ++p) {
    for (size_t c = 0; c < columns[p].size(); ++c) {
      int column = columns[p][c];
      if (column != 0 && glp_mip_col_val(lp.get(), column) > chosen) choice[p] = c;
    }
  }
  return choice;
}

}  // namespace lathe
