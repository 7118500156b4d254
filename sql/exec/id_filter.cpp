#include "sql/exec/id_filter.h"

#include <algorithm>
#include <charconv>

namespace stoa::sql {
namespace {

bool IsIdColumn(const ParsedExpr& expr, const NameScope& scope) {
  if (expr.kind != ParsedKind::kColumn) {
    return false;
  }
  if (expr.path.empty()) {
    return expr.name == "id";
  }
  return expr.path.size() == 1 && expr.path[0].name == "id" && scope.IsTableName(expr.name);
}

// False when the value is no document id that could be looked up: the filter then decides alone.
bool AddDocument(const ParsedExpr& value, std::vector<DocId>& documents) {
  if (value.kind == ParsedKind::kInteger && !value.out_of_range) {
    documents.push_back(DocId(value.unsigned_integer));
    return true;
  }
  uint64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  if (value.kind != ParsedKind::kString || value.text.empty()) {
    return false;
  }
  const auto parsed = std::from_chars(value.text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return false;
  }
  documents.push_back(DocId(number));
  return true;
}

}  // namespace

std::optional<std::vector<DocId>> DocumentsOf(const ParsedExpr& where, const NameScope& scope) {
  if (where.kind == ParsedKind::kBinary && where.op == Operator::kAnd) {
    auto left = DocumentsOf(*where.args[0], scope);
    return left ? left : DocumentsOf(*where.args[1], scope);
  }
  std::vector<DocId> documents;
  if (where.kind == ParsedKind::kBinary && where.op == Operator::kEqual &&
      IsIdColumn(*where.args[0], scope)) {
    if (!AddDocument(*where.args[1], documents)) {
      return std::nullopt;
    }
    return documents;
  }
  if (where.kind == ParsedKind::kIn && !where.negated && IsIdColumn(*where.args[0], scope)) {
    for (size_t i = 1; i < where.args.size(); ++i) {
      if (!AddDocument(*where.args[i], documents)) {
        return std::nullopt;
      }
    }
    std::sort(documents.begin(), documents.end());
    documents.erase(std::unique(documents.begin(), documents.end()), documents.end());
    return documents;
  }
  return std::nullopt;
}

}  // namespace stoa::sql
