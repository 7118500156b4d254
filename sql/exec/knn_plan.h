#pragma once

#include <optional>
#include <string>
#include <vector>

#include "knn/search/table_search.h"
#include "sql/bind/name_scope.h"
#include "sql/exec/row_source.h"
#include "sql/parser/ast.h"

namespace stoa::sql {

// A knn() of a WHERE, bound.
struct KnnPlan {
  std::string name;  // knn(…) AS name, in lower case
  std::string column;
  knn::SearchRequest request;     // without column and filter, which differ by table, and without k
  std::optional<DocId> document;  // the query is this document's vector
  bool is_open = false;           // a placeholder has no value yet: can be described, not run
  std::optional<uint64_t> k;      // as asked for
  uint64_t rows = 0;              // to find
  double weight = 1;              // of its rows in a fusion
};

// Binds a knn() to the tables of `source`: "requested KNN search attribute 'v' not found", "KNN index 'v'
// requires a vector of 3 entries; 2 entries specified", …
Result<KnnPlan> BindKnn(const ParsedExpr& knn, const RowSource& source, const NameScope& scope,
                        std::string_view statement);

}  // namespace stoa::sql
