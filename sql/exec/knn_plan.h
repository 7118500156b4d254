#pragma once

#include <optional>
#include <string>
#include <vector>

#include "knn/search/table_search.h"
#include "sql/bind/name_scope.h"
#include "sql/exec/row_source.h"
#include "sql/parser/ast.h"

namespace stoa::sql {

// The knn() of a WHERE, bound, and the conditions beside it that say which rows it may find.
struct KnnPlan {
  std::string column;
  knn::SearchRequest request;     // without column and filter, which differ by table, and without k
  std::optional<DocId> document;  // the query is this document's vector
  bool is_open = false;           // a placeholder has no value yet: can be described, not run
  std::optional<uint64_t> k;      // as asked for
  uint64_t rows = 0;              // to find

  SharedExpr filter;                            // none: every row
  std::optional<std::vector<DocId>> documents;  // the filter names these ids
};

// The conditions of a WHERE that AND connects.
void CollectConjuncts(const ParsedExpr& where, std::vector<const ParsedExpr*>& conjuncts);
// The knn() among them; nullptr when there is none. Two are an error.
Result<const ParsedExpr*> FindKnn(const std::vector<const ParsedExpr*>& conjuncts);

// Binds a knn() to the tables of `source`: "requested KNN search attribute 'v' not found", "KNN index 'v'
// requires a vector of 3 entries; 2 entries specified", …
Result<KnnPlan> BindKnn(const ParsedExpr& knn, const RowSource& source, const NameScope& scope,
                        std::string_view statement);

}  // namespace stoa::sql
