#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sql/bind/expr_binder.h"
#include "sql/parser/parser.h"
#include "storage/json/json_value.h"

// A small table in memory for tests of expressions: texts are parsed, bound and evaluated over all of its
// rows.
namespace stoa::sql {

class TableBatch : public Batch {
 public:
  explicit TableBatch(const std::deque<Vector>& slots) : slots_(slots) {}
  size_t size() const override { return slots_.empty() ? 1 : slots_[0].size(); }
  Result<const Vector*> Slot(size_t slot) override { return &slots_[slot]; }

 private:
  const std::deque<Vector>& slots_;
};

class ExprTable : public NameScope {
 public:
  ExprTable() { context_.table_name = "t"; }

  void Ints(const std::string& name, storage::ColumnType column_type, ValueType type,
            std::vector<int64_t> values) {
    Vector& slot = Add(name, column_type, type, values.size());
    std::copy(values.begin(), values.end(), slot.ints().begin());
  }
  void Floats(const std::string& name, std::vector<float> values) {
    Vector& slot = Add(name, storage::ColumnType::kFloat, ValueType::kFloat, values.size());
    std::copy(values.begin(), values.end(), slot.reals().begin());
  }
  void Texts(const std::string& name, storage::ColumnType column_type, ValueType type,
             std::vector<std::string> values) {
    Vector& slot = Add(name, column_type, type, values.size());
    for (size_t row = 0; row < values.size(); ++row) {
      slot.texts()[row] = slot.Own(values[row]);
    }
  }
  void Json(const std::string& name, const std::vector<std::string>& values) {
    std::vector<std::string> stored;
    for (const std::string& value : values) {
      stored.push_back(value.empty() ? "" : storage::EncodeJson(value).value());
    }
    Texts(name, storage::ColumnType::kJson, ValueType::kJson, stored);
  }
  void Sets(const std::string& name, const std::vector<std::vector<uint32_t>>& values) {
    std::vector<std::string> stored;
    for (const std::vector<uint32_t>& set : values) {
      stored.emplace_back(reinterpret_cast<const char*>(set.data()), set.size() * sizeof(uint32_t));
    }
    Texts(name, storage::ColumnType::kMulti, ValueType::kMulti, stored);
  }
  void Sets64(const std::string& name, const std::vector<std::vector<int64_t>>& values) {
    std::vector<std::string> stored;
    for (const std::vector<int64_t>& set : values) {
      stored.emplace_back(reinterpret_cast<const char*>(set.data()), set.size() * sizeof(int64_t));
    }
    Texts(name, storage::ColumnType::kMulti64, ValueType::kMulti64, stored);
  }
  Column& column(const std::string& name) { return columns_[name]; }
  void Alias(const std::string& name, const std::string& text) { aliases_[name] = Bind(text).value(); }
  void Variable(const std::string& name, Value value) { variables_[name] = std::move(value); }
  void SetNull(const std::string& name, size_t row) { slots_[columns_[name].slot].SetNull(row); }

  Result<SharedExpr> Bind(const std::string& text) {
    Result<Statement> parsed = Parse(text);
    return parsed.ok() ? BindExpr(*std::get<SelectStatement>(*parsed).items[0].expr, *this) : parsed.status();
  }
  Result<SharedExpr> BindAsFilter(const std::string& text) {
    Result<Statement> parsed = Parse(text);
    return parsed.ok() ? BindFilter(*std::get<SelectStatement>(*parsed).items[0].expr, *this)
                       : parsed.status();
  }

  // The values of an expression over all rows, as text divided by blanks; or its error.
  std::string Values(const std::string& text) {
    Result<SharedExpr> bound = Bind(text);
    if (!bound.ok()) {
      return bound.status().text();
    }
    TableBatch batch(slots_);
    Vector out;
    if (Status status = (*bound)->Evaluate(batch, out); !status.ok()) {
      return status.text();
    }
    std::string shown;
    for (size_t row = 0; row < out.size(); ++row) {
      shown += (row == 0 ? "" : " ") + Shown(out, row);
    }
    return shown;
  }
  // The first value, for expressions of constants.
  std::string Value1(const std::string& text) {
    const std::string all = Values(text);
    return columns_.empty() ? all : all.substr(0, all.find(' '));
  }
  // The numbers (from 1) of the rows that a filter passes; or its error.
  std::string Rows(const std::string& text) {
    Result<SharedExpr> bound = BindAsFilter(text);
    if (!bound.ok()) {
      return bound.status().text();
    }
    TableBatch batch(slots_);
    Vector out;
    if (Status status = (*bound)->Evaluate(batch, out); !status.ok()) {
      return status.text();
    }
    std::string shown;
    for (size_t row = 0; row < out.size(); ++row) {
      if (out.ints()[row] != 0) {
        shown += (shown.empty() ? "" : " ") + std::to_string(row + 1);
      }
    }
    return shown;
  }

  std::optional<Column> FindColumn(std::string_view name) override {
    const auto found = columns_.find(name);
    return found == columns_.end() ? std::nullopt : std::optional<Column>(found->second);
  }
  SharedExpr FindAlias(std::string_view alias) override {
    const auto found = aliases_.find(alias);
    return found == aliases_.end() ? nullptr : found->second;
  }
  bool IsTableName(std::string_view name) const override { return name == "t"; }
  std::optional<Value> SystemVariable(std::string_view, std::string_view name) override {
    return name == "answer" ? std::optional<Value>(Value::Bigint(42)) : std::nullopt;
  }
  std::optional<Value> UserVariable(std::string_view name) override {
    const auto found = variables_.find(name);
    return found == variables_.end() ? std::nullopt : std::optional<Value>(found->second);
  }
  Result<SharedExpr> FindSpecial(const ParsedExpr& call) override {
    return call.name == "weight" ? MakeConstant(Value::Int(1500)) : SharedExpr();
  }
  void AddWarning(std::string text) override { warnings.push_back(std::move(text)); }
  const BindContext& context() const override { return context_; }

  std::vector<std::string> warnings;

 private:
  static Result<Statement> Parse(const std::string& text) {
    return ParseStatement("SELECT " + text + " AS x FROM t");
  }
  static std::string Shown(const Vector& out, size_t row) {
    if (out.IsNull(row)) {
      return "NULL";
    }
    switch (LaneOf(out.type())) {
      case VectorLane::kInt:
        return std::to_string(out.ints()[row]);
      case VectorLane::kReal:
        return fmt::format("{}", out.reals()[row]);
      default:
        break;
    }
    const std::string_view text = out.texts()[row];
    return out.type() == ValueType::kJson ? storage::JsonText(storage::JsonView(text)) : std::string(text);
  }
  Vector& Add(const std::string& name, storage::ColumnType column_type, ValueType type, size_t rows) {
    Column column;
    column.slot = slots_.size();
    column.type = type;
    column.column_type = column_type;
    column.is_attribute = column_type != storage::ColumnType::kText;
    columns_[name] = column;
    slots_.emplace_back(type);
    slots_.back().Reset(type, rows);
    return slots_.back();
  }

  BindContext context_;
  std::map<std::string, Column, std::less<>> columns_;
  std::map<std::string, SharedExpr, std::less<>> aliases_;
  std::map<std::string, Value, std::less<>> variables_;
  std::deque<Vector> slots_;
};

}  // namespace stoa::sql
