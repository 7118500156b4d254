#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "sql/bind/name_scope.h"
#include "sql/exec/aggregate.h"
#include "sql/exec/found_rows.h"
#include "sql/exec/row_source.h"
#include "sql/exec/slot_batch.h"
#include "sql/session/session_state.h"

namespace stoa::sql {

// Names of one SELECT: columns of its source, aliases of its items, aggregates. It hands out the slots that
// the bound expressions read and collects the aggregates they need. One thread at a time.
class SelectScope : public NameScope {
 public:
  // Where the expression being bound stands; decides what a name means first and what is allowed.
  enum class Clause : uint8_t { kItems, kWhere, kGroupBy, kWithinGroup, kHaving, kOrderBy };

  SelectScope(const RowSource& source, std::vector<std::string> table_names, StatementContext& context);

  void set_clause(Clause clause) { clause_ = clause; }
  // Items whose aliases may be used; `items` must outlive the scope.
  void AddAliases(const std::vector<SelectItem>& items);
  // Makes GROUPBY() stand for the first of the group keys.
  void SetGroupKeys(const std::vector<SharedExpr>& keys) { group_keys_ = &keys; }

  bool HasAlias(std::string_view alias) const { return aliases_.contains(std::string(alias)); }
  // The slot of a group key's value (for sets and JSON arrays: of one item).
  SharedExpr GroupKeyValue(size_t key);

  std::optional<Column> FindColumn(std::string_view name) override;
  SharedExpr FindAlias(std::string_view alias) override;
  bool IsTableName(std::string_view name) const override;
  std::optional<Value> SystemVariable(std::string_view scope, std::string_view name) override;
  std::optional<Value> UserVariable(std::string_view name) override;
  Result<SharedExpr> FindSpecial(const ParsedExpr& call) override;
  void AddWarning(std::string text) override { context_.warnings.push_back(std::move(text)); }
  const BindContext& context() const override { return bind_context_; }
  BindContext& mutable_context() { return bind_context_; }

  // knn_dist(), hybrid_score(): columns of a found source behind the source's own.
  void Allow(FoundColumn column) { is_allowed_[static_cast<size_t>(column)] = true; }
  SharedExpr Found(FoundColumn column);
  // How often it was bound, by itself or in an alias.
  size_t uses(FoundColumn column) const { return uses_[static_cast<size_t>(column)]; }

  // What was bound so far. The vectors grow while expressions are bound and are moved into the plan at the
  // end.
  std::vector<SlotInfo> slots;
  std::vector<AggregateCall> aggregates;
  bool reads_key_values = false;
  bool reads_rows = false;  // columns are read outside WHERE and the arguments of aggregates
  // An error inside an alias, found while a name was looked up.
  Status alias_error;

 private:
  template <typename T>
  using PerFoundColumn = std::array<T, 2>;

  struct Alias {
    const ParsedExpr* parsed = nullptr;
    SharedExpr bound;
    bool binding = false;
    bool has_aggregate = false;
    PerFoundColumn<bool> has = {};
  };

  size_t SlotOf(SlotInfo info);
  Result<SharedExpr> BindFound(const ParsedExpr& call, FoundColumn column);
  Status Error(std::string_view text) const;
  Result<SharedExpr> BindAggregate(const ParsedExpr& call);
  Status ReadAggregateArgument(const ParsedExpr& call, AggregateCall& aggregate);

  const RowSource& source_;
  std::vector<std::string> table_names_;
  StatementContext& context_;
  BindContext bind_context_;
  Clause clause_ = Clause::kItems;
  std::map<std::string, Alias> aliases_;
  const std::vector<SharedExpr>* group_keys_ = nullptr;
  std::map<std::string, size_t> aggregate_by_text_;
  size_t aggregate_uses_ = 0;
  PerFoundColumn<bool> is_allowed_ = {};
  PerFoundColumn<size_t> uses_ = {};
  bool inside_aggregate_ = false;
};

}  // namespace stoa::sql
