#include "sql/statements/insert_select.h"

#include "sql/exec/capture_sink.h"
#include "sql/sql_error.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

ParsedExprPtr MakeNode(ParsedKind kind) {
  auto node = std::make_unique<ParsedExpr>();
  node->kind = kind;
  return node;
}

ParsedExprPtr TextNode(std::string text) {
  ParsedExprPtr node = MakeNode(ParsedKind::kString);
  node->text = std::move(text);
  return node;
}

ParsedExprPtr IntegerNode(bool negative, uint64_t magnitude) {
  ParsedExprPtr node = MakeNode(ParsedKind::kInteger);
  node->unsigned_integer = magnitude;
  node->integer = static_cast<int64_t>(magnitude);
  node->text = std::to_string(magnitude);
  if (!negative) {
    return node;
  }
  ParsedExprPtr negated = MakeNode(ParsedKind::kUnary);
  negated->op = Operator::kNegate;
  negated->args.push_back(std::move(node));
  return negated;
}

ParsedExprPtr RealNode(const Value& value) {
  ParsedExprPtr node = MakeNode(ParsedKind::kFloat);
  node->real = value.real;
  if (value.type == ValueType::kFloat) {
    AppendFloatText(static_cast<float>(value.real), node->text);
  } else {
    AppendDoubleText(value.real, node->text);
  }
  return node;
}

// Sets, vectors and JSON travel as the text that SELECT shows.
ParsedExprPtr NodeOf(const Value& value) {
  std::string text;
  switch (value.type) {
    case ValueType::kNull:
      return MakeNode(ParsedKind::kNull);
    case ValueType::kInt:
    case ValueType::kBigint: {
      const auto bits = static_cast<uint64_t>(value.integer);
      return IntegerNode(value.integer < 0, value.integer < 0 ? 0 - bits : bits);
    }
    case ValueType::kUint64:
      return IntegerNode(false, static_cast<uint64_t>(value.integer));
    case ValueType::kFloat:
    case ValueType::kDouble:
      return RealNode(value);
    case ValueType::kString:
    case ValueType::kText:
      return TextNode(value.bytes);
    case ValueType::kJson: {
      const storage::JsonView json(value.bytes);
      if (json.kind() == storage::JsonKind::kString) {
        return TextNode(std::string(json.AsString()));
      }
      storage::AppendJsonText(json, text);
      break;
    }
    case ValueType::kMulti:
      AppendMultiText(value.bytes, text);
      break;
    case ValueType::kMulti64:
      AppendMulti64Text(value.bytes, text);
      break;
    case ValueType::kFloatVector:
      AppendVectorText(value.bytes, text);
      break;
    case ValueType::kFloatVectorArray:
      AppendVectorArrayText(value.bytes, text);
      break;
  }
  return TextNode(std::move(text));
}

}  // namespace

Result<std::vector<std::vector<ParsedExprPtr>>> SelectRowsToInsert(SelectStatement& select,
                                                                   StatementContext& context) {
  if (!select.facets.empty()) {
    return SyntaxError("FACET has no place in INSERT … SELECT");
  }
  if (!select.limit.limit) {
    select.limit.unlimited = true;
  }
  CaptureSink capture;
  StatementContext inner{context.session, context.cancel, capture, context.text, false, {}};
  RETURN_IF_ERROR(ExecuteSelect(select, inner));
  const VirtualTable result = capture.Take();
  std::vector<std::vector<ParsedExprPtr>> rows;
  rows.reserve(result.rows.size());
  for (const std::vector<Value>& row : result.rows) {
    std::vector<ParsedExprPtr>& nodes = rows.emplace_back();
    nodes.reserve(row.size());
    for (const Value& value : row) {
      nodes.push_back(NodeOf(value));
    }
  }
  return rows;
}

}  // namespace stoa::sql
