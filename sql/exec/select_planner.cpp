#include <algorithm>

#include "sql/bind/expr_binder.h"
#include "sql/exec/id_filter.h"
#include "sql/exec/select_plan.h"
#include "sql/exec/select_scope.h"
#include "sql/exec/value_key.h"
#include "sql/expr/logic.h"
#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

using Clause = SelectScope::Clause;

bool IsSortable(ValueType type) {
  return LaneOf(type) != VectorLane::kBytes || type == ValueType::kString || type == ValueType::kJson;
}

// A column named by itself, `x` or `t.x`; empty otherwise.
std::string PlainName(const ParsedExpr& expr, const NameScope& scope) {
  if (expr.kind != ParsedKind::kColumn) {
    return {};
  }
  if (expr.path.empty()) {
    return expr.name;
  }
  const bool qualified = expr.path.size() == 1 && !expr.path[0].index && scope.IsTableName(expr.name);
  return qualified ? expr.path[0].name : std::string();
}

// Makes the plan of a SELECT or of one of its facets, clause by clause.
class SelectPlanner {
 public:
  SelectPlanner(const SelectStatement& statement, const OpenedSource& source, StatementContext& context)
      : statement_(statement),
        source_(source),
        statement_text_(context.text),
        scope_(*source.rows, source.names, context) {
    plan_.source = source.rows;
    scope_.AddAliases(statement.items);
  }

  Result<SelectPlan> Plan() {
    RETURN_IF_ERROR(ReadOptions());
    RETURN_IF_ERROR(FindSearch());
    if (!searches_.empty()) {
      ASSIGN_OR_RETURN(plan_.search,
                       BindSearches(searches_, plan_.options.fusion, *source_.rows, scope_, statement_text_));
    }
    RETURN_IF_ERROR(BindGroupBy(statement_.group_by, statement_.items));
    RETURN_IF_ERROR(BindWithinGroup(statement_.within_group_order, statement_.group_limit));
    for (const SelectItem& item : statement_.items) {
      RETURN_IF_ERROR(BindItem(item));
    }
    RETURN_IF_ERROR(BindDistinct());
    RETURN_IF_ERROR(BindWhere());
    RETURN_IF_ERROR(BindHaving());
    RETURN_IF_ERROR(BindOrder(statement_.order_by));
    OrderByRank();
    RETURN_IF_ERROR(SetWindow(statement_.limit, source_.is_virtual || statement_.no_cache_hint));
    if (plan_.search) {
      SetRowsToFind(std::min(plan_.window.end, plan_.options.max_matches.value_or(plan_.window.end)),
                    *plan_.search);
    }
    return Finish();
  }

  Result<SelectPlan> PlanFacetOf(const FacetClause& facet) {
    RETURN_IF_ERROR(ReadOptions());
    RETURN_IF_ERROR(FindSearch());
    plan_.options.max_matches.reset();  // it is about the rows of the query
    scope_.AddAliases(facet.items);
    RETURN_IF_ERROR(BindFacetKeys(facet));
    for (size_t i = 0; i < facet.items.size(); ++i) {
      const bool is_key = i < plan_.grouping.keys.size();
      ASSIGN_OR_RETURN(const SharedExpr own, Bind(*facet.items[i].expr, Clause::kItems));
      AddOutput(NameOf(facet.items[i]), is_key ? scope_.GroupKeyValue(i) : own);
    }
    if (!facet.distinct.empty()) {
      RETURN_IF_ERROR(AddCount(facet.distinct));
    }
    RETURN_IF_ERROR(AddCount({}));
    RETURN_IF_ERROR(BindWhere());
    RETURN_IF_ERROR(BindOrder(facet.order));
    if (facet.order.empty()) {
      plan_.order.push_back({plan_.output.back().expr, true});
      plan_.order.push_back({plan_.output.front().expr, false});
    }
    RETURN_IF_ERROR(SetWindow(facet.limit, false));
    return Finish();
  }

 private:
  Result<SharedExpr> Bind(const ParsedExpr& expr, Clause clause) {
    scope_.set_clause(clause);
    Result<SharedExpr> bound = BindExpr(expr, scope_);
    if (!bound.ok() && !scope_.alias_error.ok()) {
      return scope_.alias_error;
    }
    return bound;
  }

  Result<SharedExpr> BindCondition(const ParsedExpr& expr, Clause clause) {
    scope_.set_clause(clause);
    Result<SharedExpr> bound = BindFilter(expr, scope_);
    if (!bound.ok() && !scope_.alias_error.ok()) {
      return scope_.alias_error;
    }
    return bound;
  }

  const std::string& table_name() const { return scope_.context().table_name; }

  Status ReadOptions() {
    ASSIGN_OR_RETURN(plan_.options, ReadSelectOptions(statement_.options));
    if (plan_.options.rand_seed) {
      scope_.mutable_context().rand_seed = *plan_.options.rand_seed;
    }
    plan_.collation = scope_.context().collation;
    return Status::Ok();
  }

  Status BindItem(const SelectItem& item) {
    if (item.expr->kind == ParsedKind::kStar) {
      return AddStar(*item.expr);
    }
    const size_t rank_uses = scope_.uses(rank_);
    ASSIGN_OR_RETURN(SharedExpr expr, Bind(*item.expr, Clause::kItems));
    AddOutput(NameOf(item), std::move(expr));
    item_has_rank_.resize(plan_.output.size());
    item_has_rank_.back() = scope_.uses(rank_) > rank_uses;
    const std::string name = PlainName(*item.expr, scope_);
    if (!name.empty() && source_.rows->FindColumn(name) >= 0) {
      plan_.output.back().column.original_name = name;
    }
    return Status::Ok();
  }

  Status AddStar(const ParsedExpr& star) {
    if (source_.rows->columns().empty()) {
      return NoTablesUsed();
    }
    if (!star.name.empty() && !scope_.IsTableName(star.name)) {
      return UnknownColumnInItems(table_name(), star.name + ".*");
    }
    scope_.set_clause(Clause::kItems);
    for (const SourceColumn& column : source_.rows->columns()) {
      if (!column.stored) {
        continue;
      }
      const auto found = scope_.FindColumn(column.name);
      STOA_CHECK(found.has_value());
      AddOutput(column.name, MakeSlot(found->slot, found->type));
      plan_.output.back().column.original_name = column.name;
    }
    return Status::Ok();
  }

  std::string NameOf(const SelectItem& item) const {
    if (!item.alias.empty()) {
      return item.alias;
    }
    const ParsedExpr& expr = *item.expr;
    if (expr.kind == ParsedKind::kColumn) {
      if (const std::string name = PlainName(expr, scope_); !name.empty()) {
        return name;
      }
      if (scope_.IsTableName(expr.name)) {  // t.j.a is named j.a
        return item.source_text.substr(std::min(item.source_text.size(), item.source_text.find('.') + 1));
      }
    }
    return item.source_text;
  }

  void AddOutput(std::string name, SharedExpr expr) {
    OutputColumn output;
    output.column.name = std::move(name);
    output.column.type = expr->type();
    output.column.table = table_name();
    output.expr = std::move(expr);
    plan_.output.push_back(std::move(output));
  }

  // GROUP BY 2 is by the second item.
  Status BindGroupBy(const std::vector<ParsedExprPtr>& keys, const std::vector<SelectItem>& items) {
    for (const ParsedExprPtr& key : keys) {
      if (key->kind != ParsedKind::kInteger) {
        RETURN_IF_ERROR(AddGroupKey(*key));
        continue;
      }
      const uint64_t position = key->unsigned_integer;
      if (position < 1 || position > items.size() || items[position - 1].expr->kind == ParsedKind::kStar) {
        return TableError(table_name(),
                          fmt::format("group-by position {} is not an item of the select", position));
      }
      RETURN_IF_ERROR(AddGroupKey(*items[position - 1].expr));
    }
    return Status::Ok();
  }

  Status BindWithinGroup(const std::vector<OrderKey>& within, uint64_t rows) {
    plan_.grouping.rows_per_group = static_cast<size_t>(rows);
    for (const OrderKey& key : within) {
      RETURN_IF_ERROR(AddSortKey(key, Clause::kWithinGroup, plan_.grouping.within_order));
    }
    return Status::Ok();
  }

  Status AddGroupKey(const ParsedExpr& key) {
    plan_.grouped = true;
    scope_.set_clause(Clause::kGroupBy);
    const std::string name = PlainName(key, scope_);
    if (!name.empty() && !scope_.HasAlias(name)) {
      const int column = source_.rows->FindColumn(name);
      if (column < 0 || !source_.rows->columns()[static_cast<size_t>(column)].is_attribute) {
        return TableError(table_name(), fmt::format("group-by attribute '{}' not found", name));
      }
    }
    ASSIGN_OR_RETURN(SharedExpr bound, Bind(key, Clause::kGroupBy));
    if (bound->type() == ValueType::kFloatVector || bound->type() == ValueType::kFloatVectorArray ||
        bound->type() == ValueType::kText) {
      return TableError(table_name(), "can not group by a text field or a vector");
    }
    plan_.grouping.keys.push_back(std::move(bound));
    scope_.SetGroupKeys(plan_.grouping.keys);
    return Status::Ok();
  }

  // SELECT DISTINCT without grouping is a GROUP BY of all items.
  Status BindDistinct() {
    if (!statement_.distinct) {
      return Status::Ok();
    }
    if (plan_.grouped || !scope_.aggregates.empty()) {
      return NotSupportedYet("SELECT DISTINCT with GROUP BY or aggregates");
    }
    plan_.grouped = true;
    for (const OutputColumn& output : plan_.output) {
      plan_.grouping.keys.push_back(IsExpandable(output.expr->type()) ? ToText(output.expr) : output.expr);
    }
    return Status::Ok();
  }

  Status BindFacetKeys(const FacetClause& facet) {
    if (!facet.mode.empty() || facet.zeroes || !facet.filters.empty()) {
      return NotSupportedYet("FACET with filter modes");
    }
    if (!facet.by.empty()) {
      return BindGroupBy(facet.by, facet.items);
    }
    for (const SelectItem& item : facet.items) {
      RETURN_IF_ERROR(AddGroupKey(*item.expr));
    }
    return Status::Ok();
  }

  // count(*), or count(distinct column) of a facet.
  Status AddCount(const std::string& distinct_column) {
    ParsedExpr call;
    call.kind = ParsedKind::kFunction;
    call.name = "count";
    call.distinct = !distinct_column.empty();
    auto argument = std::make_unique<ParsedExpr>();
    argument->kind = call.distinct ? ParsedKind::kColumn : ParsedKind::kStar;
    argument->name = distinct_column;
    call.args.push_back(std::move(argument));
    ASSIGN_OR_RETURN(SharedExpr bound, Bind(call, Clause::kItems));
    AddOutput(call.distinct ? fmt::format("count(distinct {})", distinct_column) : "count(*)",
              std::move(bound));
    return Status::Ok();
  }

  Status BindWhere() {
    if (statement_.where == nullptr) {
      return Status::Ok();
    }
    std::optional<std::vector<DocId>> documents;
    if (!source_.rows->columns().empty() &&
        source_.rows->columns()[0].column_type == storage::ColumnType::kId) {
      documents = DocumentsOf(*statement_.where, scope_);
    }
    if (!searches_.empty()) {
      return BindAroundSearch(std::move(documents));
    }
    plan_.documents = std::move(documents);
    ASSIGN_OR_RETURN(plan_.filter, BindCondition(*statement_.where, Clause::kWhere));
    return Status::Ok();
  }

  // Conditions on distance or score are for the rows that were found, all others say what may be found.
  Status BindAroundSearch(std::optional<std::vector<DocId>> documents) {
    std::vector<SharedExpr> before;
    std::vector<SharedExpr> after;
    for (const ParsedExpr* condition : conditions_) {
      if (condition->kind == ParsedKind::kKnn) {
        continue;
      }
      const auto found_uses = [this] {
        return scope_.uses(FoundColumn::kDistance) + scope_.uses(FoundColumn::kScore);
      };
      const size_t uses = found_uses();
      ASSIGN_OR_RETURN(SharedExpr bound, BindCondition(*condition, Clause::kWhere));
      (found_uses() > uses ? after : before).push_back(std::move(bound));
    }
    plan_.filter = AllOf(std::move(after));
    if (plan_.search) {
      plan_.search->filter = AllOf(std::move(before));
      plan_.search->documents = std::move(documents);
    }
    return Status::Ok();
  }

  static SharedExpr AllOf(std::vector<SharedExpr> conditions) {
    if (conditions.size() < 2) {
      return conditions.empty() ? nullptr : std::move(conditions[0]);
    }
    return MakeCondition(MakeAnd(std::move(conditions)));
  }

  // MATCH waits for the full-text index.
  Status RefuseMatch(const ParsedExpr& expr) {
    if (expr.kind == ParsedKind::kMatch) {
      return NotSupportedYet("MATCH()");
    }
    if (expr.kind == ParsedKind::kFunction && expr.name == "hybrid_match") {
      return NotSupportedYet("HYBRID_MATCH()");
    }
    for (const ParsedExprPtr& arg : expr.args) {
      RETURN_IF_ERROR(RefuseMatch(*arg));
    }
    return Status::Ok();
  }

  Status FindSearch() {
    if (statement_.where != nullptr) {
      RETURN_IF_ERROR(RefuseMatch(*statement_.where));
      CollectConjuncts(*statement_.where, conditions_);
    }
    ASSIGN_OR_RETURN(searches_, FindSearches(conditions_, plan_.options.fusion));
    if (!searches_.empty()) {
      scope_.Allow(FoundColumn::kDistance);
    }
    if (plan_.options.fusion) {
      scope_.Allow(FoundColumn::kScore);
      rank_ = FoundColumn::kScore;
    }
    return Status::Ok();
  }

  SortKey RankKey() { return {scope_.Found(rank_), rank_ == FoundColumn::kScore}; }

  // Nearest (of a fusion: highest score) first, unless the user's keys mention it. A group stands where its
  // first row does, unless there are keys at all.
  void OrderByRank() {
    if (searches_.empty()) {
      return;
    }
    const bool by_keys = !plan_.grouping.keys.empty();
    const bool is_one_group = !by_keys && !scope_.aggregates.empty();
    const bool keeps_rows = by_keys || (is_one_group && scope_.reads_rows);
    if (keeps_rows && plan_.grouping.within_order.empty()) {
      plan_.grouping.within_order.push_back(RankKey());
    }
    if (!order_has_rank_ && (by_keys ? plan_.order.empty() : !is_one_group)) {
      plan_.order.insert(plan_.order.begin(), RankKey());
    }
  }

  Status BindHaving() {
    if (statement_.having == nullptr) {
      return Status::Ok();
    }
    if (statement_.group_by.empty()) {
      return SyntaxError("can not use HAVING without GROUP BY");
    }
    ASSIGN_OR_RETURN(plan_.having, BindCondition(*statement_.having, Clause::kHaving));
    return Status::Ok();
  }

  Status BindOrder(const std::vector<OrderKey>& order) {
    const size_t rank_uses = scope_.uses(rank_);
    for (const OrderKey& key : order) {
      RETURN_IF_ERROR(AddSortKey(key, Clause::kOrderBy, plan_.order));
    }
    order_has_rank_ = order_has_rank_ || scope_.uses(rank_) > rank_uses;
    return Status::Ok();
  }

  Status AddSortKey(const OrderKey& key, Clause clause, std::vector<SortKey>& keys) {
    SharedExpr bound;
    if (key.expr->kind == ParsedKind::kInteger) {
      const uint64_t position = key.expr->unsigned_integer;
      if (position < 1 || position > plan_.output.size()) {
        return TableError(table_name(),
                          fmt::format("sort-by position {} is not an item of the select", position));
      }
      bound = plan_.output[position - 1].expr;
      order_has_rank_ =
          order_has_rank_ || (position <= item_has_rank_.size() && item_has_rank_[position - 1]);
    } else {
      RETURN_IF_ERROR(BindSortKey(*key.expr, clause, bound));
    }
    if (clause == Clause::kOrderBy) {
      bound = ItemOfGroup(std::move(bound));
    }
    if (!IsSortable(bound->type())) {
      return TableError(table_name(), "can not sort by a set, a text field or a vector");
    }
    if (bound->type() == ValueType::kJson) {
      bound = ToText(bound);
    }
    keys.push_back({std::move(bound), key.descending});
    return Status::Ok();
  }

  // Groups by a set are ordered by the item of it that they stand for.
  SharedExpr ItemOfGroup(SharedExpr key) {
    const std::vector<SharedExpr>& keys = plan_.grouping.keys;
    for (size_t i = 0; i < keys.size() && !IsSortable(key->type()); ++i) {
      if (key->slot() >= 0 && keys[i]->slot() == key->slot()) {
        return scope_.GroupKeyValue(i);
      }
    }
    return key;
  }

  Status BindSortKey(const ParsedExpr& expr, Clause clause, SharedExpr& bound) {
    scope_.set_clause(clause);
    if (expr.kind == ParsedKind::kUserVariable) {
      return BindLegacySortKey(expr.name, clause, bound);
    }
    if (const std::string name = PlainName(expr, scope_); !name.empty() && !scope_.HasAlias(name)) {
      const int column = source_.rows->FindColumn(name);
      const bool sortable = column >= 0 && source_.rows->columns()[static_cast<size_t>(column)].is_attribute;
      if (!sortable) {
        return TableError(table_name(), fmt::format("sort-by attribute '{}' not found", name));
      }
    }
    ASSIGN_OR_RETURN(bound, Bind(expr, clause));
    return Status::Ok();
  }

  // @id, @weight, @count, @groupby: spellings of old.
  Status BindLegacySortKey(const std::string& name, Clause clause, SharedExpr& bound) {
    ParsedExpr expr;
    expr.name = name;
    if (name == "id" || name == "rowid") {
      expr.kind = ParsedKind::kColumn;
      expr.name = "id";
    } else {
      expr.kind = ParsedKind::kFunction;
      if (name == "count") {
        auto star = std::make_unique<ParsedExpr>();
        star->kind = ParsedKind::kStar;
        expr.args.push_back(std::move(star));
      } else if (name != "weight" && name != "groupby") {
        return TableError(table_name(), fmt::format("sort-by attribute '@{}' not found", name));
      }
    }
    ASSIGN_OR_RETURN(bound, Bind(expr, clause));
    return Status::Ok();
  }

  Status SetWindow(const LimitClause& limit, bool unlimited_by_default) {
    constexpr uint64_t kDefaultLimit = 20;
    constexpr uint64_t kNoLimit = uint64_t{1} << 62;
    plan_.window.offset = limit.offset;
    const bool no_limit = limit.unlimited || (!limit.limit && unlimited_by_default);
    const uint64_t rows = no_limit ? kNoLimit : std::min(kNoLimit, limit.limit.value_or(kDefaultLimit));
    const uint64_t max_matches = plan_.options.max_matches.value_or(kDefaultMaxMatches);
    if (limit.offset > 0 && limit.offset >= max_matches && !no_limit && !source_.is_virtual) {
      return SyntaxError(
          fmt::format("offset out of bounds (offset={}, max_matches={})", limit.offset, max_matches));
    }
    plan_.window.end = std::min(kNoLimit, limit.offset + rows);
    if (plan_.options.max_matches && !no_limit) {
      plan_.window.end = std::max(limit.offset, std::min(plan_.window.end, *plan_.options.max_matches));
    }
    return Status::Ok();
  }

  Result<SelectPlan> Finish() {
    plan_.grouped = plan_.grouped || !scope_.aggregates.empty();
    plan_.slots = std::move(scope_.slots);
    plan_.aggregates = std::move(scope_.aggregates);
    plan_.grouping.keep_key_values = scope_.reads_key_values;
    plan_.grouping.keep_rows = scope_.reads_rows || !plan_.grouping.keys.empty();
    plan_.grouping.collation = plan_.collation;
    return std::move(plan_);
  }

  const SelectStatement& statement_;
  const OpenedSource& source_;
  std::string_view statement_text_;
  SelectScope scope_;
  SelectPlan plan_;
  std::vector<const ParsedExpr*> conditions_;  // of the WHERE, ANDed
  std::vector<const ParsedExpr*> searches_;    // among them
  FoundColumn rank_ = FoundColumn::kDistance;  // what found rows are ordered by
  std::vector<bool> item_has_rank_;            // by column of the answer
  bool order_has_rank_ = false;
};

// Conditions of a WHERE that AND, OR and NOT connect.
size_t CountFilters(const ParsedExpr& where) {
  const bool connects = where.op == Operator::kAnd || where.op == Operator::kOr || where.op == Operator::kNot;
  if (!connects) {
    return 1;
  }
  size_t filters = 0;
  for (const ParsedExprPtr& arg : where.args) {
    filters += CountFilters(*arg);
  }
  return filters;
}

Status CheckFilterCount(const SelectStatement& statement, const StatementContext& context) {
  const size_t filters = statement.where == nullptr ? 0 : CountFilters(*statement.where);
  const size_t limit = LimitSetting(context.session, "max_filters");
  if (limit > 0 && filters > limit) {
    return LimitError("{} filters in one query, max_filters allows {}", filters, limit);
  }
  return Status::Ok();
}

}  // namespace

Result<SelectPlan> PlanSelect(const SelectStatement& statement, const OpenedSource& source,
                              StatementContext& context) {
  RETURN_IF_ERROR(CheckFilterCount(statement, context));
  return SelectPlanner(statement, source, context).Plan();
}

Result<SelectPlan> PlanFacet(const SelectStatement& statement, const FacetClause& facet,
                             const OpenedSource& source, StatementContext& context) {
  return SelectPlanner(statement, source, context).PlanFacetOf(facet);
}

}  // namespace stoa::sql
