#include "sql/exec/select_scope.h"

#include <algorithm>

#include "sql/bind/expr_binder.h"
#include "sql/exec/value_key.h"
#include "sql/session/system_variables.h"
#include "sql/sql_error.h"

namespace stoa::sql {

SelectScope::SelectScope(const RowSource& source, std::vector<std::string> table_names,
                         StatementContext& context)
    : source_(source),
      table_names_(std::move(table_names)),
      context_(context),
      bind_context_(context.MakeBindContext(table_names_.empty() ? std::string() : table_names_[0])) {}

void SelectScope::AddAliases(const std::vector<SelectItem>& items) {
  for (const SelectItem& item : items) {
    if (!item.alias.empty()) {
      aliases_.try_emplace(item.alias, Alias{item.expr.get(), nullptr, false, false, {}});
    }
  }
}

size_t SelectScope::SlotOf(SlotInfo info) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].kind == info.kind && slots[i].index == info.index) {
      return i;
    }
  }
  slots.push_back(info);
  return slots.size() - 1;
}

std::optional<NameScope::Column> SelectScope::FindColumn(std::string_view name) {
  const bool alias_first =
      clause_ == Clause::kOrderBy || clause_ == Clause::kHaving || clause_ == Clause::kGroupBy;
  if (alias_first && HasAlias(name) && !aliases_.find(std::string(name))->second.binding) {
    return std::nullopt;
  }
  const int index = source_.FindColumn(name);
  if (index < 0) {
    return std::nullopt;
  }
  reads_rows = reads_rows || (clause_ != Clause::kWhere && !inside_aggregate_);
  const SourceColumn& column = source_.columns()[static_cast<size_t>(index)];
  const size_t slot = SlotOf({SlotInfo::Kind::kColumn, static_cast<size_t>(index), column.type});
  return Column{slot, column.type, column.column_type, column.is_attribute, column.stored};
}

SharedExpr SelectScope::FindAlias(std::string_view alias) {
  const auto found = aliases_.find(std::string(alias));
  if (found == aliases_.end() || found->second.binding) {
    return nullptr;
  }
  Alias& entry = found->second;
  if (entry.bound == nullptr) {
    const size_t uses_before = aggregate_uses_;
    const PerFoundColumn<size_t> found_before = uses_;
    const Clause clause_before = std::exchange(clause_, Clause::kItems);
    entry.binding = true;
    Result<SharedExpr> bound = BindExpr(*entry.parsed, *this);
    entry.binding = false;
    clause_ = clause_before;
    if (!bound.ok()) {
      alias_error = bound.status();
      return nullptr;
    }
    entry.bound = std::move(bound).value();
    entry.has_aggregate = aggregate_uses_ > uses_before;
    for (size_t i = 0; i < uses_.size(); ++i) {
      entry.has[i] = uses_[i] > found_before[i];
    }
  }
  if (entry.has_aggregate) {
    if (clause_ == Clause::kWhere) {
      alias_error =
          SyntaxError(fmt::format("alias '{}' of an aggregate can not stand in WHERE, use 'HAVING'", alias));
      return nullptr;
    }
    if (inside_aggregate_ || clause_ == Clause::kGroupBy || clause_ == Clause::kWithinGroup) {
      alias_error = SyntaxError(fmt::format("alias '{}' of an aggregate can not stand here", alias));
      return nullptr;
    }
    ++aggregate_uses_;
  }
  for (size_t i = 0; i < uses_.size(); ++i) {
    uses_[i] += entry.has[i] ? 1 : 0;
  }
  reads_rows = true;  // perhaps: it may have been bound where that did not count
  return entry.bound;
}

bool SelectScope::IsTableName(std::string_view name) const {
  return std::find(table_names_.begin(), table_names_.end(), name) != table_names_.end();
}

std::optional<Value> SelectScope::SystemVariable(std::string_view scope, std::string_view name) {
  return sql::SystemVariable(context_.session, scope, name);
}

std::optional<Value> SelectScope::UserVariable(std::string_view name) {
  const auto found = context_.session.user_variables.find(std::string(name));
  if (found == context_.session.user_variables.end()) {
    return std::nullopt;
  }
  return found->second;
}

SharedExpr SelectScope::GroupKeyValue(size_t key) {
  const SharedExpr& expr = (*group_keys_)[key];
  if (!IsExpandable(expr->type())) {
    return expr;  // every row of the group has the same: read it from the kept row
  }
  reads_key_values = true;
  const ValueType type = expr->type() == ValueType::kJson ? ValueType::kJson : ValueType::kBigint;
  return MakeSlot(SlotOf({SlotInfo::Kind::kGroupKey, key, type}), type);
}

SharedExpr SelectScope::Found(FoundColumn column) {
  const size_t index = source_.columns().size() + static_cast<size_t>(column);
  return MakeSlot(SlotOf({SlotInfo::Kind::kColumn, index, ValueType::kFloat}), ValueType::kFloat);
}

Status SelectScope::Error(std::string_view text) const {
  const std::string& table = bind_context_.table_name;
  return table.empty() ? SyntaxError(std::string(text)) : TableError(table, text);
}

Result<SharedExpr> SelectScope::BindFound(const ParsedExpr& call, FoundColumn column) {
  const bool is_distance = column == FoundColumn::kDistance;
  if (!is_allowed_[static_cast<size_t>(column)]) {
    return Error(is_distance ? "knn_dist() is only allowed for KNN() queries"
                             : "HYBRID_SCORE() is only allowed for hybrid search queries");
  }
  if (!call.args.empty()) {
    return Error(fmt::format("parse error: {}() takes no arguments", call.name));
  }
  ++uses_[static_cast<size_t>(column)];
  reads_rows = reads_rows || (clause_ != Clause::kWhere && !inside_aggregate_);
  return Found(column);
}

Result<SharedExpr> SelectScope::FindSpecial(const ParsedExpr& call) {
  const std::string& name = call.name;
  if (name == "weight" && call.args.empty()) {
    return MakeConstant(Value::Int(1));  // no MATCH: every row weighs the same
  }
  if (name == "knn_dist") {
    return BindFound(call, FoundColumn::kDistance);
  }
  if (name == "hybrid_match") {
    return NotSupportedYet("HYBRID_MATCH()");
  }
  if (name == "hybrid_score") {
    return BindFound(call, FoundColumn::kScore);
  }
  if (name == "groupby" && call.args.empty()) {
    if (group_keys_ == nullptr || group_keys_->empty()) {
      return TableError(bind_context_.table_name, "GROUPBY() is allowed only in GROUP BY queries");
    }
    return GroupKeyValue(0);
  }
  if (name == "facet" && call.args.empty() && group_keys_ != nullptr && !group_keys_->empty()) {
    return GroupKeyValue(0);
  }
  const bool extreme_of_several = (name == "min" || name == "max") && call.args.size() != 1;
  if (!IsAggregateName(name) || extreme_of_several) {
    return SharedExpr();
  }
  return BindAggregate(call);
}

Status SelectScope::ReadAggregateArgument(const ParsedExpr& call, AggregateCall& aggregate) {
  if (call.args.empty()) {
    return SyntaxError(fmt::format("{}() needs an argument", call.name));
  }
  if (call.args.size() > 1) {
    return call.distinct ? NotSupportedYet(fmt::format("{}(DISTINCT …) of several columns", call.name))
                         : SyntaxError(fmt::format("{}() takes one argument", call.name));
  }
  const ParsedExpr& argument = *call.args[0];
  if (argument.kind == ParsedKind::kStar) {
    return call.name == "count" ? Status::Ok()
                                : SyntaxError(fmt::format("{}(*) is not an aggregate", call.name));
  }
  const Clause clause_before = std::exchange(clause_, Clause::kItems);
  inside_aggregate_ = true;
  Result<SharedExpr> bound = BindExpr(argument, *this);
  inside_aggregate_ = false;
  clause_ = clause_before;
  RETURN_IF_ERROR(bound.status());
  aggregate.argument = std::move(bound).value();
  if (aggregate.argument->type() == ValueType::kJson && call.name != "count" && call.name != "group_concat") {
    const std::string_view text =
        context_.text.substr(argument.range.begin, argument.range.end - argument.range.begin);
    return TableError(
        bind_context_.table_name,
        fmt::format("ambiguous attribute type '{}', use INTEGER(), BIGINT() or DOUBLE() conversion functions",
                    text));
  }
  if (call.name == "group_concat") {
    aggregate.argument = ToText(aggregate.argument);
  }
  return Status::Ok();
}

Result<SharedExpr> SelectScope::BindAggregate(const ParsedExpr& call) {
  if (clause_ == Clause::kWhere) {
    return SyntaxError(fmt::format("aggregate {}() can not stand in WHERE, use 'HAVING'", call.name));
  }
  if (inside_aggregate_ || clause_ == Clause::kGroupBy || clause_ == Clause::kWithinGroup) {
    return SyntaxError(fmt::format("aggregate {}() can not stand here", call.name));
  }
  ++aggregate_uses_;
  const bool in_text = call.range.end > call.range.begin && call.range.end <= context_.text.size();
  std::string text;
  if (in_text) {
    text = context_.text.substr(call.range.begin, call.range.end - call.range.begin);
    if (const auto known = aggregate_by_text_.find(text); known != aggregate_by_text_.end()) {
      return MakeSlot(known->second, slots[known->second].type);
    }
  }
  AggregateCall aggregate;
  aggregate.function = call.name;
  aggregate.distinct = call.distinct;
  RETURN_IF_ERROR(ReadAggregateArgument(call, aggregate));
  if (call.concat != nullptr) {
    if (!call.concat->order.empty() || call.concat->limit) {
      return NotSupportedYet("GROUP_CONCAT with ORDER BY or LIMIT");
    }
    aggregate.separator = call.concat->separator;
  }
  if (call.distinct && call.name != "count") {
    return NotSupportedYet(fmt::format("{}(DISTINCT …)", call.name));
  }
  Result<std::unique_ptr<Aggregate>> state = MakeAggregate(aggregate, bind_context_.collation);
  if (!state.ok()) {
    return state.status().code() == StatusCode::kUnsupported
               ? state.status()
               : TableError(bind_context_.table_name, "parse error: " + state.status().text());
  }
  aggregate.state = std::move(state).value();
  const ValueType type = aggregate.state->type();
  const size_t slot = SlotOf({SlotInfo::Kind::kAggregate, aggregates.size(), type});
  aggregates.push_back(std::move(aggregate));
  if (in_text) {
    aggregate_by_text_.emplace(std::move(text), slot);
  }
  return MakeSlot(slot, type);
}

}  // namespace stoa::sql
