#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "sql/exec/capture_sink.h"
#include "sql/parser/keywords.h"
#include "sql/parser/parser.h"
#include "sql/session/variable_table.h"
#include "sql/sql_error.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

// A value of SET: a constant, or a bare word (DEFAULT, ON, utf8).
struct SetValue {
  Value value;
  bool is_word = false;

  bool IsDefault() const { return is_word && value.bytes == "default"; }
};

std::string TextOf(const Value& value) {
  switch (value.type) {
    case ValueType::kNull:
      return "";
    case ValueType::kInt:
    case ValueType::kBigint:
      return fmt::format("{}", value.integer);
    case ValueType::kUint64:
      return fmt::format("{}", static_cast<uint64_t>(value.integer));
    case ValueType::kFloat:
    case ValueType::kDouble:
      return fmt::format("{}", value.real);
    default:
      return value.bytes;
  }
}

// Words and numbers for on and off.
std::string SwitchText(const std::string& text) {
  if (EqualsLower(text, "on") || EqualsLower(text, "true") || EqualsLower(text, "yes")) {
    return "1";
  }
  if (EqualsLower(text, "off") || EqualsLower(text, "false") || EqualsLower(text, "no")) {
    return "0";
  }
  return text;
}

bool IsNumber(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// (1, 2, 3): a set that `IN @x` reads.
Result<Value> ListValue(const ParsedExpr& list) {
  std::set<int64_t> items;
  for (const ParsedExprPtr& item : list.args) {
    const bool negative = item->kind == ParsedKind::kUnary && item->op == Operator::kNegate;
    const ParsedExpr& number = negative ? *item->args[0] : *item;
    if (number.kind != ParsedKind::kInteger || number.out_of_range) {
      return SyntaxError("a list variable holds integers");
    }
    items.insert(negative ? -number.integer : number.integer);
  }
  Value value;
  value.type = ValueType::kMulti64;
  for (const int64_t item : items) {
    value.bytes.append(reinterpret_cast<const char*>(&item), sizeof(item));
  }
  return value;
}

// Expressions and sub-selects are run as SELECT of their text.
Result<Value> Evaluate(const ParsedExpr& expr, StatementContext& context) {
  const std::string_view source = context.text.substr(expr.range.begin, expr.range.end - expr.range.begin);
  const std::string text =
      expr.kind == ParsedKind::kSubquery ? std::string(source) : "SELECT " + std::string(source);
  ASSIGN_OR_RETURN(const Statement statement, ParseStatement(text));
  const auto* select = std::get_if<SelectStatement>(&statement);
  if (select == nullptr) {
    return SyntaxError("SET takes an expression");
  }
  CaptureSink sink;
  StatementContext inner{context.session, context.cancel, sink, text, false, {}};
  RETURN_IF_ERROR(ExecuteSelect(*select, inner));
  VirtualTable answer = sink.Take();
  if (answer.columns.size() != 1 || answer.rows.size() > 1) {
    return SyntaxError("SET takes one value");
  }
  return answer.rows.empty() ? Value::Null() : std::move(answer.rows[0][0]);
}

Result<SetValue> ReadValue(const ParsedExpr& expr, StatementContext& context) {
  switch (expr.kind) {
    case ParsedKind::kString:
      return SetValue{Value::String(expr.text), false};
    case ParsedKind::kNull:
      return SetValue{Value::Null(), false};
    case ParsedKind::kBool:
      return SetValue{Value::Bigint(expr.integer), false};
    case ParsedKind::kFloat:
      return SetValue{Value::Double(expr.real), false};
    case ParsedKind::kInteger:
      if (expr.out_of_range) {
        return SyntaxError(fmt::format("number {} is out of range", expr.text));
      }
      return SetValue{expr.integer < 0 ? Value::Uint64(expr.unsigned_integer) : Value::Bigint(expr.integer),
                      false};
    case ParsedKind::kColumn:
      if (expr.path.empty()) {
        return SetValue{Value::String(expr.name), true};
      }
      break;
    case ParsedKind::kList: {
      ASSIGN_OR_RETURN(Value list, ListValue(expr));
      return SetValue{std::move(list), false};
    }
    default:
      break;
  }
  ASSIGN_OR_RETURN(Value value, Evaluate(expr, context));
  return SetValue{std::move(value), false};
}

// Applies one assignment after all values of the statement are known.
class Setter {
 public:
  explicit Setter(StatementContext& context) : context_(context), session_(context.session) {}

  Status Apply(const VariableAssignment& assignment, SetValue value) {
    if (assignment.scope == "user") {
      session_.user_variables[assignment.name] = std::move(value.value);
      return Status::Ok();
    }
    if (assignment.scope == "names" || assignment.scope == "character set") {
      ApplyNames(assignment, value);
      return Status::Ok();
    }
    if (assignment.scope == "transaction") {
      ApplyTransaction(value.value.bytes);
      return Status::Ok();
    }
    if (assignment.scope == "global" || assignment.scope == "persist") {
      return ApplyGlobal(assignment.name, value);
    }
    return ApplySession(assignment.name, value);
  }

 private:
  void ApplyNames(const VariableAssignment& assignment, const SetValue& value) {
    std::string text = TextOf(value.value);
    const bool is_default = EqualsLower(text, "default");
    if (assignment.name == "collation_connection") {
      WarnOfCollation(text, is_default);
      Store("collation_connection", std::move(text), is_default);
      return;
    }
    Store("character_set_client", text, is_default);
    Store("character_set_results", text, is_default);
    if (assignment.scope == "names") {
      Store("character_set_connection", text, is_default);
    }
  }

  // "isolation level read committed", "read only", "read write".
  void ApplyTransaction(std::string words) {
    constexpr std::string_view kLevel = "isolation level ";
    if (!words.starts_with(kLevel)) {
      session_.variables["transaction_read_only"] = words == "read only" ? "1" : "0";
      return;
    }
    words.erase(0, kLevel.size());
    std::transform(words.begin(), words.end(), words.begin(), [](char c) {
      return c == ' ' ? '-' : c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
    });
    session_.variables["transaction_isolation"] = words;
    session_.variables["tx_isolation"] = words;
  }

  Status ApplyGlobal(const std::string& name, const SetValue& value) {
    std::string text = TextOf(value.value);
    const VariableDefinition* variable = FindVariable(name);
    if (variable != nullptr && variable->read_only) {
      return ReadOnly(name);
    }
    if (value.IsDefault() && variable != nullptr) {
      text = variable->value;
    }
    const Status set = context_.server().SetSetting(name, text);
    if (set.code() != StatusCode::kNotFound) {
      return set;
    }
    if (variable == nullptr) {
      return SyntaxError(fmt::format("Unknown system variable '{}'", name));
    }
    return Status::Ok();  // one of MySQL's without a meaning here
  }

  Status ApplySession(std::string name, const SetValue& value) {
    std::string text = TextOf(value.value);
    if (name == "autocommit") {
      return ApplyAutocommit(value.IsDefault() ? "1" : SwitchText(text));
    }
    if (name == "ro") {
      name = "session_read_only";
    }
    const VariableDefinition* variable = FindVariable(name);
    if (variable == nullptr) {
      if (!context_.server().Setting(name).ok()) {
        context_.warnings.push_back(fmt::format("unknown system variable '{}'", name));
      }
      Store(name, std::move(text), value.IsDefault());
      return Status::Ok();
    }
    if (variable->read_only) {
      return ReadOnly(name);
    }
    if (variable->number && !value.IsDefault()) {
      text = SwitchText(text);
      if (!IsNumber(text)) {
        return Status(StatusCode::kInvalid,
                      fmt::format("variable '{}' can't be set to the value of '{}'", name, text), 1231);
      }
    }
    if (name == "collation_connection") {
      WarnOfCollation(text, value.IsDefault());
    }
    Store(name, std::move(text), value.IsDefault());
    return Status::Ok();
  }

  // No error: drivers name whatever their server of old had.
  void WarnOfCollation(const std::string& name, bool is_default) {
    if (const Result<Collation> collation = ParseCollation(name); !is_default && !collation.ok()) {
      context_.warnings.push_back(fmt::format("{}; comparisons ignore case", collation.status().text()));
    }
  }

  Status ApplyAutocommit(const std::string& text) {
    if (text != "0" && text != "1") {
      return Status(StatusCode::kInvalid,
                    fmt::format("variable 'autocommit' can't be set to the value of '{}'", text), 1231);
    }
    if (text == "1" && (!session_.autocommit || session_.in_transaction)) {
      RETURN_IF_ERROR(CommitTransaction(context_));
    }
    session_.autocommit = text == "1";
    return Status::Ok();
  }

  void Store(const std::string& name, std::string text, bool is_default) {
    if (is_default) {
      session_.variables.erase(name);
    } else {
      session_.variables[name] = std::move(text);
    }
  }

  static Status ReadOnly(std::string_view name) {
    return {StatusCode::kInvalid, fmt::format("variable '{}' is a read only variable", name), 1238};
  }

  StatementContext& context_;
  Session::State& session_;
};

}  // namespace

Status ExecuteSet(const SetStatement& statement, StatementContext& context) {
  std::vector<SetValue> values;
  for (const VariableAssignment& assignment : statement.assignments) {
    ASSIGN_OR_RETURN(SetValue value, ReadValue(*assignment.value, context));
    values.push_back(std::move(value));
  }
  Setter setter(context);
  for (size_t i = 0; i < values.size(); ++i) {
    RETURN_IF_ERROR(setter.Apply(statement.assignments[i], std::move(values[i])));
  }
  return SendOk(context);
}

}  // namespace stoa::sql
