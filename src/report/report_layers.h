// The part of a report that is about layers: what each became, and what it could have become.
#pragma once

#include "report/report_html.h"
#include "report/report_page.h"

namespace lathe {

/// Returns the table of layers; each row opens to show loops.
Html layer_table(const ReportInput& input);

/// Returns what each kind of layer can become, kind by kind: pictures that open on demand.
Html kind_list(const SearchResult& result);

}  // namespace lathe
