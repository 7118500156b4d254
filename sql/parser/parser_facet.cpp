#include "sql/parser/statement_parser.h"

namespace stoa::sql {

// FACET e [AS a], … [BY …] [filters] [ZEROES] [MODE m] [DISTINCT f] [ORDER BY …] [LIMIT …], behind the word
// FACET.
Result<FacetClause> StatementParser::ParseFacet() {
  FacetClause facet;
  do {
    ASSIGN_OR_RETURN(SelectItem item, ParseSelectItem(true));
    facet.items.push_back(std::move(item));
  } while (AcceptSign(','));
  if (AcceptWord("by")) {
    do {
      ASSIGN_OR_RETURN(ParsedExprPtr key, ParseExpr());
      facet.by.push_back(std::move(key));
    } while (AcceptSign(','));
  }
  for (bool found = true; found;) {
    RETURN_IF_ERROR(ParseFacetClause(facet, &found));
  }
  return facet;
}

Status StatementParser::ParseFacetClause(FacetClause& facet, bool* found) {
  if (AcceptWord("distinct")) {
    ASSIGN_OR_RETURN(facet.distinct, ParseName());
  } else if (AcceptWord("order")) {
    RETURN_IF_ERROR(ExpectWord("by"));
    RETURN_IF_ERROR(ParseOrderKeys(facet.order));
  } else if (AcceptWord("limit")) {
    ASSIGN_OR_RETURN(facet.limit, ParseLimit());
  } else if (AcceptWord("zeroes")) {
    facet.zeroes = true;
  } else if (AcceptWord("mode")) {
    if (!IsAnyWord({"strict", "auto", "max"})) {
      return Unexpected();
    }
    ASSIGN_OR_RETURN(facet.mode, ParseAnyWord());
  } else if (IsAnyWord({"all", "filters", "exclude"})) {
    return ParseFacetFilters(facet);
  } else {
    *found = false;
  }
  return Status::Ok();
}

// ALL FILTERS | FILTERS(a, b) | EXCLUDE FILTERS(a, b).
Status StatementParser::ParseFacetFilters(FacetClause& facet) {
  if (AcceptWord("all")) {
    facet.filters = "all";
    return ExpectWord("filters");
  }
  facet.filters = AcceptWord("exclude") ? "exclude" : "filters";
  RETURN_IF_ERROR(ExpectWord("filters"));
  RETURN_IF_ERROR(ExpectSign('('));
  if (!IsSign(')')) {
    do {
      ASSIGN_OR_RETURN(std::string name, ParseAnyWord());
      facet.filter_names.push_back(std::move(name));
    } while (AcceptSign(','));
  }
  return ExpectSign(')');
}

}  // namespace stoa::sql
