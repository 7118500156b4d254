#include "sql/exec/knn_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sql/parser/number_list.h"
#include "sql/sql_error.h"
#include "sql/statements/literal.h"
#include "sql/statements/value_converter.h"

namespace stoa::sql {
namespace {

using storage::ColumnDefinition;

constexpr double kMostOversampling = 1e6;

// Binds one knn().
class KnnBinder {
 public:
  KnnBinder(const ParsedExpr& knn, const RowSource& source, const NameScope& scope,
            std::string_view statement)
      : knn_(knn), source_(source), scope_(scope), statement_(statement) {}

  Result<KnnPlan> Bind() {
    std::transform(knn_.alias.begin(), knn_.alias.end(), std::back_inserter(plan_.name),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    RETURN_IF_ERROR(FindColumn());
    RETURN_IF_ERROR(ReadQuery(*knn_.args.back()));
    if (knn_.args.size() == 2) {
      RETURN_IF_ERROR(ReadCount(*knn_.args.front()));
    }
    for (const ParsedOption& option : knn_.options) {
      RETURN_IF_ERROR(ReadOption(option));
    }
    return std::move(plan_);
  }

 private:
  Status Error(std::string_view text) const {
    const std::string& table = scope_.context().table_name;
    return table.empty() ? SyntaxError(std::string(text)) : TableError(table, text);
  }

  Status FindColumn() {
    plan_.column = knn_.name;
    if (const size_t dot = knn_.name.find('.');
        dot != std::string::npos && scope_.IsTableName(std::string_view(knn_.name).substr(0, dot))) {
      plan_.column = knn_.name.substr(dot + 1);
    }
    if (source_.tables().empty() || source_.FindColumn(plan_.column) < 0) {
      return Error(fmt::format("requested KNN search attribute '{}' not found", plan_.column));
    }
    for (const auto& table : source_.tables()) {
      const ColumnDefinition* column = table->definition->Find(plan_.column);
      if (column == nullptr || !column->knn) {
        return Error(fmt::format("KNN index not enabled for attribute '{}'", plan_.column));
      }
      if (column_ != nullptr &&
          (column->knn->dims != column_->knn->dims || column->knn->similarity != column_->knn->similarity)) {
        return Error(fmt::format("attribute '{}' has another KNN index in table {}", plan_.column,
                                 table->definition->name));
      }
      column_ = column;
    }
    return Status::Ok();
  }

  Status ReadQuery(const ParsedExpr& query) {
    switch (query.kind) {
      case ParsedKind::kParameter:
        plan_.is_open = true;
        return Status::Ok();
      case ParsedKind::kNumbers:
        plan_.request.query = query.numbers->floats;
        return CheckLength();
      case ParsedKind::kList:
      case ParsedKind::kArray:
        RETURN_IF_ERROR(ReadItems(query));
        return plan_.is_open ? Status::Ok() : CheckLength();
      case ParsedKind::kString:
        return ReadText(query);
      default:
        return ReadDocument(query);
    }
  }

  Status ReadItems(const ParsedExpr& list) {
    for (const ParsedExprPtr& item : list.args) {
      Number number;
      if (item->kind == ParsedKind::kParameter) {
        plan_.is_open = true;
        continue;
      }
      if (!ReadNumberOrText(*item, number)) {
        return Error("the vector of knn() is a list of numbers");
      }
      const float value = static_cast<float>(number.AsDouble());
      if (!std::isfinite(value)) {
        return Error(fmt::format("value {} of the vector of knn() is out of range of a 32-bit float",
                                 LiteralText(*item)));
      }
      plan_.request.query.push_back(value);
    }
    return Status::Ok();
  }

  // A vector as text, as connectors send it; a document id in quotes; else a text that a model would have to
  // make a vector of.
  Status ReadText(const ParsedExpr& query) {
    const std::string_view text = WithoutBrackets(query.text);
    const bool in_brackets = text.size() < query.text.size() && query.text.find_first_of("([") == 0;
    if (text.find(',') != std::string_view::npos || in_brackets) {
      if (ReadFloats(text, '\0', plan_.request.query)) {
        return CheckLength();
      }
      plan_.request.query.clear();
    }
    if (Number number; ReadNumberOrText(query, number)) {
      return ReadDocument(query);
    }
    return Error(fmt::format("No model loaded for auto embeddings attribute '{}', knn() needs a vector",
                             plan_.column));
  }

  Status ReadDocument(const ParsedExpr& query) {
    if (column_->type != storage::ColumnType::kFloatVector) {
      return Error(
          fmt::format("attribute '{}' has several vectors a document, knn() needs a vector", plan_.column));
    }
    const Result<uint64_t> id = ReadDocumentId(query, statement_);
    if (!id.ok()) {
      return id.status().number() != 0 ? id.status() : Error(id.status().text());
    }
    plan_.document = DocId(*id);
    return Status::Ok();
  }

  Status CheckLength() const {
    if (plan_.request.query.size() == column_->knn->dims) {
      return Status::Ok();
    }
    return Error(fmt::format("KNN index '{}' requires a vector of {} entries; {} entries specified",
                             plan_.column, column_->knn->dims, plan_.request.query.size()));
  }

  Status ReadCount(const ParsedExpr& count) {
    Number number;
    if (count.kind == ParsedKind::kParameter) {
      plan_.is_open = true;
    } else if (!ReadNumberOrText(count, number) || number.negative || number.AsDouble() < 1) {
      return Error("k parameter must be positive");
    } else {
      plan_.k = number.integer ? number.magnitude : std::numeric_limits<uint32_t>::max();
    }
    return Status::Ok();
  }

  // The parser has checked names and ranges.
  Status ReadOption(const ParsedOption& option) {
    knn::SearchRequest& request = plan_.request;
    if (option.name == "k") {
      return ReadCount(*option.value);
    }
    // early_termination is a permission that nobody makes use of: every search goes to its end.
    Number number;
    if (!ReadNumber(*option.value, number)) {
      plan_.is_open = true;
      return Status::Ok();
    }
    const double value = number.AsDouble();
    if (option.name == "ef") {
      request.ef = static_cast<uint32_t>(std::min<double>(value, std::numeric_limits<uint32_t>::max()));
    } else if (option.name == "oversampling") {
      request.oversampling = std::clamp(value, 1.0, kMostOversampling);
    } else if (option.name == "rescore") {
      request.rescore = value != 0;
    } else if (option.name == "prefilter") {
      request.prefilter = value != 0;
    } else if (option.name == "fullscan") {
      request.full_scan = value != 0;
    }
    return Status::Ok();
  }

  const ParsedExpr& knn_;
  const RowSource& source_;
  const NameScope& scope_;
  std::string_view statement_;
  const ColumnDefinition* column_ = nullptr;
  KnnPlan plan_;
};

}  // namespace

Result<KnnPlan> BindKnn(const ParsedExpr& knn, const RowSource& source, const NameScope& scope,
                        std::string_view statement) {
  return KnnBinder(knn, source, scope, statement).Bind();
}

}  // namespace stoa::sql
