#include "sql/statements/show_rows.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "sql/parser/keywords.h"
#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

std::optional<double> AsNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                   : std::nullopt;
}

int Compare(std::string_view a, std::string_view b) {
  const auto left = AsNumber(a);
  const auto right = AsNumber(b);
  if (left && right) {
    return *left < *right ? -1 : *left > *right ? 1 : 0;
  }
  const auto order = std::lexicographical_compare_three_way(
      a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return Lower(x) <=> Lower(y); });
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// A condition over one row of the answer. NULL is nullopt and makes comparisons false.
class RowCondition {
 public:
  RowCondition(const ShowRows& answer, const std::vector<Value>& row) : answer_(answer), row_(row) {}

  Result<bool> Holds(const ParsedExpr& expr) const {
    switch (expr.kind) {
      case ParsedKind::kUnary:
        if (expr.op == Operator::kNot) {
          ASSIGN_OR_RETURN(const bool inner, Holds(*expr.args[0]));
          return !inner;
        }
        break;
      case ParsedKind::kBinary:
        return HoldsBinary(expr);
      case ParsedKind::kIn:
        return HoldsIn(expr);
      case ParsedKind::kBetween:
        return HoldsBetween(expr);
      case ParsedKind::kLike: {
        ASSIGN_OR_RETURN(const auto text, Text(*expr.args[0]));
        ASSIGN_OR_RETURN(const auto pattern, Text(*expr.args[1]));
        return text && pattern && MatchesLike(*text, *pattern) != expr.negated;
      }
      case ParsedKind::kIsNull: {
        ASSIGN_OR_RETURN(const auto text, Text(*expr.args[0]));
        return !text.has_value() != expr.negated;
      }
      default:
        break;
    }
    ASSIGN_OR_RETURN(const auto text, Text(expr));
    return text && AsNumber(*text).value_or(0) != 0;
  }

 private:
  Result<bool> HoldsBinary(const ParsedExpr& expr) const {
    if (expr.op == Operator::kAnd || expr.op == Operator::kOr) {
      ASSIGN_OR_RETURN(const bool left, Holds(*expr.args[0]));
      ASSIGN_OR_RETURN(const bool right, Holds(*expr.args[1]));
      return expr.op == Operator::kAnd ? left && right : left || right;
    }
    ASSIGN_OR_RETURN(const auto left, Text(*expr.args[0]));
    ASSIGN_OR_RETURN(const auto right, Text(*expr.args[1]));
    if (!left || !right) {
      return false;
    }
    const int order = Compare(*left, *right);
    switch (expr.op) {
      case Operator::kEqual:
        return order == 0;
      case Operator::kNotEqual:
        return order != 0;
      case Operator::kLess:
        return order < 0;
      case Operator::kLessEqual:
        return order <= 0;
      case Operator::kGreater:
        return order > 0;
      case Operator::kGreaterEqual:
        return order >= 0;
      default:
        return SyntaxError("SHOW … WHERE compares columns with constants");
    }
  }

  Result<bool> HoldsIn(const ParsedExpr& expr) const {
    ASSIGN_OR_RETURN(const auto text, Text(*expr.args[0]));
    bool found = false;
    for (size_t i = 1; i < expr.args.size() && text; ++i) {
      ASSIGN_OR_RETURN(const auto item, Text(*expr.args[i]));
      found = found || (item && Compare(*text, *item) == 0);
    }
    return text && found != expr.negated;
  }

  Result<bool> HoldsBetween(const ParsedExpr& expr) const {
    ASSIGN_OR_RETURN(const auto text, Text(*expr.args[0]));
    ASSIGN_OR_RETURN(const auto low, Text(*expr.args[1]));
    ASSIGN_OR_RETURN(const auto high, Text(*expr.args[2]));
    return text && low && high && (Compare(*text, *low) >= 0 && Compare(*text, *high) <= 0) != expr.negated;
  }

  Result<std::optional<std::string>> Text(const ParsedExpr& expr) const {
    switch (expr.kind) {
      case ParsedKind::kInteger:
      case ParsedKind::kFloat:
      case ParsedKind::kString:
        return std::optional(expr.text);
      case ParsedKind::kBool:
        return std::optional<std::string>(expr.integer != 0 ? "1" : "0");
      case ParsedKind::kNull:
        return std::optional<std::string>();
      case ParsedKind::kUnary:
        if (expr.op == Operator::kNegate) {
          ASSIGN_OR_RETURN(const auto inner, Text(*expr.args[0]));
          return std::optional<std::string>("-" + inner.value_or("0"));
        }
        break;
      case ParsedKind::kFunction:
        return FunctionText(expr);
      case ParsedKind::kColumn:
        return ColumnText(expr);
      default:
        break;
    }
    return SyntaxError("SHOW … WHERE compares columns with constants");
  }

  Result<std::optional<std::string>> FunctionText(const ParsedExpr& expr) const {
    if ((expr.name == "lower" || expr.name == "upper") && expr.args.size() == 1) {
      return Text(*expr.args[0]);  // comparisons know no case
    }
    if ((expr.name == "database" || expr.name == "schema") && expr.args.empty()) {
      return std::optional<std::string>("Manticore");
    }
    return SyntaxError(fmt::format("SHOW … WHERE knows no function {}()", expr.name));
  }

  Result<std::optional<std::string>> ColumnText(const ParsedExpr& expr) const {
    const std::string_view name = expr.path.empty() ? std::string_view(expr.name) : expr.path.back().name;
    for (size_t i = 0; i < answer_.names.size(); ++i) {
      std::string column = answer_.names[i];
      std::transform(column.begin(), column.end(), column.begin(), Lower);
      if (EqualsLower(name, column)) {
        return row_[i].is_null() ? std::optional<std::string>() : std::optional(row_[i].bytes);
      }
    }
    constexpr std::string_view kMysqlName = "tables_in_";  // what MySQL calls the first column of SHOW TABLES
    if (answer_.names[0] == "Table" && EqualsLower(name.substr(0, kMysqlName.size()), kMysqlName)) {
      return std::optional(row_[0].bytes);
    }
    return SyntaxError(fmt::format("unknown column: {}", name));
  }

  const ShowRows& answer_;
  const std::vector<Value>& row_;
};

}  // namespace

void ShowRows::Add(std::initializer_list<std::string_view> cells) {
  std::vector<Value>& row = rows.emplace_back();
  row.reserve(cells.size());
  for (const std::string_view cell : cells) {
    row.push_back(Value::String(std::string(cell)));
  }
}

Status FilterShowRows(const ShowStatement& show, ShowRows& answer) {
  if (!show.like && show.where == nullptr) {
    return Status::Ok();
  }
  std::vector<std::vector<Value>> kept;
  for (std::vector<Value>& row : answer.rows) {
    if (show.like && !MatchesLike(row[answer.like_column].bytes, *show.like)) {
      continue;
    }
    if (show.where != nullptr) {
      ASSIGN_OR_RETURN(const bool holds, RowCondition(answer, row).Holds(*show.where));
      if (!holds) {
        continue;
      }
    }
    kept.push_back(std::move(row));
  }
  answer.rows = std::move(kept);
  return Status::Ok();
}

Result<std::shared_ptr<storage::Table>> FindShownTable(const TableReference& table,
                                                       StatementContext& context) {
  auto found = context.FindTable(table);
  if (found == nullptr) {
    return context.MissingTable(table, NoSuchTable(table.name));
  }
  return found;
}

bool IsMainDatabase(std::string_view database) { return database.empty() || database == "manticore"; }

std::string_view DatabaseTitle(std::string_view database) {
  return IsMainDatabase(database) ? std::string_view("Manticore") : database;
}

std::string_view TableKindName(storage::TableKind kind) {
  switch (kind) {
    case storage::TableKind::kRealTime:
      return "rt";
    case storage::TableKind::kPercolate:
      return "percolate";
    case storage::TableKind::kDistributed:
      return "distributed";
  }
  return "rt";
}

}  // namespace stoa::sql
