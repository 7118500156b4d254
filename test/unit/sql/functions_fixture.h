#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sql/bind/expr_binder.h"
#include "sql/parser/parser.h"
#include "storage/json/json_value.h"

// Evaluates the text of an expression over a small table and shows the answers as text.
namespace stoa::sql::test {

struct TestColumn {
  std::string name;
  ValueType type = ValueType::kInt;
  storage::ColumnType column_type = storage::ColumnType::kInt;
  std::vector<Value> values;
};

class TestTable final : public NameScope, public Batch {
 public:
  void AddColumn(std::string name, ValueType type, storage::ColumnType column_type,
                 std::vector<Value> values) {
    rows_ = values.size();
    columns_.push_back({std::move(name), type, column_type, std::move(values)});
    vectors_.resize(columns_.size());
  }
  void AddInts(std::string name, const std::vector<int64_t>& values) {
    std::vector<Value> cells;
    for (int64_t value : values) {
      cells.push_back(Value::Int(value));
    }
    AddColumn(std::move(name), ValueType::kInt, storage::ColumnType::kInt, std::move(cells));
  }
  void AddBigints(std::string name, const std::vector<int64_t>& values) {
    std::vector<Value> cells;
    for (int64_t value : values) {
      cells.push_back(Value::Bigint(value));
    }
    AddColumn(std::move(name), ValueType::kBigint, storage::ColumnType::kBigint, std::move(cells));
  }
  void AddFloats(std::string name, const std::vector<float>& values) {
    std::vector<Value> cells;
    for (float value : values) {
      cells.push_back(Value::Float(value));
    }
    AddColumn(std::move(name), ValueType::kFloat, storage::ColumnType::kFloat, std::move(cells));
  }
  void AddStrings(std::string name, const std::vector<std::string>& values) {
    std::vector<Value> cells;
    for (const std::string& value : values) {
      cells.push_back(Value::String(value));
    }
    AddColumn(std::move(name), ValueType::kString, storage::ColumnType::kString, std::move(cells));
  }
  void AddJson(std::string name, const std::vector<std::string>& values) {
    std::vector<Value> cells;
    for (const std::string& value : values) {
      Value cell;
      cell.type = ValueType::kJson;
      cell.bytes = storage::EncodeJson(value).value();
      cells.push_back(std::move(cell));
    }
    AddColumn(std::move(name), ValueType::kJson, storage::ColumnType::kJson, std::move(cells));
  }
  void AddSets(std::string name, const std::vector<std::vector<uint32_t>>& values) {
    std::vector<Value> cells;
    for (const std::vector<uint32_t>& value : values) {
      Value cell;
      cell.type = ValueType::kMulti;
      cell.bytes.assign(reinterpret_cast<const char*>(value.data()), value.size() * sizeof(uint32_t));
      cells.push_back(std::move(cell));
    }
    AddColumn(std::move(name), ValueType::kMulti, storage::ColumnType::kMulti, std::move(cells));
  }
  void SetVariable(std::string name, Value value) { variables_[std::move(name)] = std::move(value); }

  std::optional<Column> FindColumn(std::string_view name) override {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].name == name) {
        Column column;
        column.slot = i;
        column.type = columns_[i].type;
        column.column_type = columns_[i].column_type;
        return column;
      }
    }
    return std::nullopt;
  }
  SharedExpr FindAlias(std::string_view) override { return nullptr; }
  bool IsTableName(std::string_view name) const override { return name == "t"; }
  std::optional<Value> SystemVariable(std::string_view, std::string_view) override { return std::nullopt; }
  std::optional<Value> UserVariable(std::string_view name) override {
    auto found = variables_.find(name);
    return found == variables_.end() ? std::nullopt : std::optional<Value>(found->second);
  }
  Result<SharedExpr> FindSpecial(const ParsedExpr&) override { return SharedExpr(); }
  void AddWarning(std::string) override {}
  const BindContext& context() const override { return context_; }
  BindContext& context() { return context_; }

  size_t size() const override { return rows_; }
  Result<const Vector*> Slot(size_t slot) override {
    if (slot >= columns_.size()) {
      return InternalError("no slot {}", slot);
    }
    const TestColumn& column = columns_[slot];
    Vector& vector = vectors_[slot];
    vector.Reset(column.type, column.values.size());
    for (size_t row = 0; row < column.values.size(); ++row) {
      switch (LaneOf(column.type)) {
        case VectorLane::kInt:
          vector.ints()[row] = column.values[row].integer;
          break;
        case VectorLane::kReal:
          vector.reals()[row] = column.values[row].real;
          break;
        case VectorLane::kBytes:
          vector.texts()[row] = column.values[row].bytes;
          break;
      }
    }
    return &vector;
  }

  Result<SharedExpr> Bind(const std::string& text) {
    ASSIGN_OR_RETURN(Statement statement, ParseStatement("SELECT " + text));
    return BindExpr(*std::get<SelectStatement>(statement).items.at(0).expr, *this);
  }

  // The answers of all rows, divided by '|'; NULL as such. Errors as "error: …".
  std::string Ask(const std::string& text) {
    Result<SharedExpr> expr = Bind(text);
    if (!expr.ok()) {
      return "error: " + expr.status().text();
    }
    Vector out;
    Status status = expr.value()->Evaluate(*this, out);
    if (!status.ok()) {
      return "failed: " + status.text();
    }
    std::string answer;
    for (size_t row = 0; row < out.size(); ++row) {
      answer += row == 0 ? "" : "|";
      answer += CellText(out.At(row));
    }
    return answer;
  }

 private:
  static std::string CellText(const Value& value) {
    std::string text;
    switch (value.type) {
      case ValueType::kNull:
        return "NULL";
      case ValueType::kInt:
      case ValueType::kBigint:
        return std::to_string(value.integer);
      case ValueType::kUint64:
        return std::to_string(static_cast<uint64_t>(value.integer));
      case ValueType::kFloat:
        AppendFloatText(static_cast<float>(value.real), text);
        return text;
      case ValueType::kDouble:
        AppendDoubleText(value.real, text);
        return text;
      default:
        return value.bytes;
    }
  }

  BindContext context_{.table_name = "t"};
  std::vector<TestColumn> columns_;
  std::vector<Vector> vectors_;
  std::map<std::string, Value, std::less<>> variables_;
  size_t rows_ = 1;
};

}  // namespace stoa::sql::test
