#include <algorithm>

#include "sql/parser/keywords.h"
#include "sql/parser/statement_parser.h"

// SELECT: items, FROM, joins and the clauses behind them. FACET is in parser_facet.cpp.
namespace stoa::sql {
namespace {

ParsedExprPtr SubstituteSortName(ParsedExprPtr expr) {
  // @weight, @id, @count and @groupby are the old names of what a row carries.
  if (expr->kind != ParsedKind::kUserVariable) {
    return expr;
  }
  if (expr->name == "id") {
    expr->kind = ParsedKind::kColumn;
  } else if (expr->name == "weight" || expr->name == "count" || expr->name == "groupby" ||
             expr->name == "group") {
    expr->kind = ParsedKind::kFunction;
    if (expr->name == "count") {
      auto star = std::make_unique<ParsedExpr>();
      star->kind = ParsedKind::kStar;
      expr->args.push_back(std::move(star));
    } else if (expr->name == "group") {
      expr->name = "groupby";
    }
  }
  return expr;
}

}  // namespace

Result<Statement> StatementParser::ParseSelectStatement() {
  ASSIGN_OR_RETURN(std::unique_ptr<SelectStatement> select, ParseSelect());
  return Statement(std::move(*select));
}

Result<std::unique_ptr<SelectStatement>> StatementParser::ParseSelect() {
  NestingGuard guard(*this);
  RETURN_IF_ERROR(guard.Check());
  auto select = std::make_unique<SelectStatement>();
  RETURN_IF_ERROR(ExpectWord("select"));
  RETURN_IF_ERROR(ParseSelectModifiers(*select));
  do {
    ASSIGN_OR_RETURN(SelectItem item, ParseSelectItem(false));
    select->items.push_back(std::move(item));
  } while (AcceptSign(','));
  if (AcceptWord("from")) {
    RETURN_IF_ERROR(ParseFrom(*select));
  }
  RETURN_IF_ERROR(ParseSelectTail(*select));
  return select;
}

// DISTINCT, and words that MySQL knows and that change nothing here.
Status StatementParser::ParseSelectModifiers(SelectStatement& select) {
  for (;;) {
    if (token_.kind == TokenKind::kHint) {
      Advance();
    } else if (AcceptWord("distinct")) {
      select.distinct = true;
    } else if (IsAnyWord({"sql_no_cache", "sql_cache", "sql_calc_found_rows", "high_priority",
                          "straight_join", "sql_small_result", "sql_big_result", "sql_buffer_result",
                          "all"})) {
      const TokenKind next = Ahead().kind;
      const bool is_modifier = next == TokenKind::kQuotedName || next == TokenKind::kInteger ||
                               next == TokenKind::kString || IsSignAhead('*') || IsSignAhead(sign::kAtAt) ||
                               (next == TokenKind::kIdentifier && !IsWordAhead("as") && !IsWordAhead("from"));
      if (!is_modifier) {
        return Status::Ok();
      }
      select.no_cache_hint = select.no_cache_hint || (IsWord("sql_no_cache") && token_.in_version_comment);
      Advance();
    } else {
      return Status::Ok();
    }
  }
}

Result<SelectItem> StatementParser::ParseSelectItem(bool in_facet) {
  SelectItem item;
  const uint32_t begin = token_.begin;
  if (IsSign('*') && !in_facet) {
    Advance();
    item.expr = MakeNode(ParsedKind::kStar, begin);
    item.source_text = "*";
    return item;
  }
  ASSIGN_OR_RETURN(item.expr, ParseExpr());
  item.source_text = LowerText(begin, previous_end_);
  if (item.expr->kind == ParsedKind::kColumn && item.expr->path.empty()) {
    item.source_text = item.expr->name;  // without back-quotes
  }
  if (item.expr->kind != ParsedKind::kStar) {
    ASSIGN_OR_RETURN(item.alias, ParseAliasIfAny(in_facet));
  }
  return item;
}

Result<std::string> StatementParser::ParseAliasIfAny(bool in_facet) {
  if (AcceptWord("as")) {
    if (token_.kind != TokenKind::kString) {
      return ParseAnyWord();
    }
  } else if (token_.kind == TokenKind::kIdentifier) {
    const bool facet_word = in_facet && IsAnyWord({"all", "filters", "exclude", "zeroes", "mode", "zeros"});
    if (IsClauseWord(Bytes()) || facet_word) {
      return std::string();
    }
    return ParseName();
  } else if (token_.kind == TokenKind::kQuotedName) {
    return ParseName();
  } else if (token_.kind != TokenKind::kString) {
    return std::string();
  }
  ASSIGN_OR_RETURN(std::string alias, ParseText());
  std::transform(alias.begin(), alias.end(), alias.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return alias;
}

Status StatementParser::ParseFrom(SelectStatement& select) {
  do {
    ASSIGN_OR_RETURN(TableReference table, ParseTableFactor(select));
    select.from.push_back(std::move(table));
  } while (AcceptSign(','));
  RETURN_IF_ERROR(ParseJoins(select));
  if (AcceptWord("where")) {
    ASSIGN_OR_RETURN(select.where, ParseFilter());
  }
  return Status::Ok();
}

// A table or a sub-select, with its alias.
Result<TableReference> StatementParser::ParseTableFactor(SelectStatement& select) {
  TableReference table;
  if (AcceptSign('(')) {
    const bool outer = std::exchange(in_where_, false);
    auto subquery = ParseSelect();
    in_where_ = outer;
    if (!subquery.ok()) {
      return subquery.status();
    }
    table.subquery = std::move(subquery).value();
    LimitClause& limit = table.subquery->limit;
    limit.unlimited = limit.unlimited || !limit.limit;  // the 20 rows are for who looks at an answer
    RETURN_IF_ERROR(ExpectSign(')'));
  } else if (IsWord("remove_repeats") && IsSignAhead('(')) {
    unbuilt_ = "REMOVE_REPEATS";
    RETURN_IF_ERROR(ParseFunction().status());
    table.name = "remove_repeats";
  } else {
    ASSIGN_OR_RETURN(table, ParseTableName());
  }
  ASSIGN_OR_RETURN(table.alias, ParseAliasIfAny(false));
  RETURN_IF_ERROR(ParseIndexHintWords(select));
  return table;
}

// USE INDEX (a), FORCE INDEX (a), IGNORE INDEX (a): the same hints in MySQL's words.
Status StatementParser::ParseIndexHintWords(SelectStatement& select) {
  while (IsAnyWord({"use", "force", "ignore"}) && (IsWordAhead("index") || IsWordAhead("key"))) {
    IndexHint hint;
    hint.name = IsWord("ignore") ? "no_secondaryindex" : "secondaryindex";
    Advance();
    Advance();
    RETURN_IF_ERROR(ExpectSign('('));
    if (!IsSign(')')) {
      do {
        ASSIGN_OR_RETURN(std::string column, ParseAnyWord());
        hint.columns.push_back(std::move(column));
      } while (AcceptSign(','));
    }
    RETURN_IF_ERROR(ExpectSign(')'));
    if (!hint.columns.empty()) {
      select.hints.push_back(std::move(hint));
    }
  }
  return Status::Ok();
}

Status StatementParser::ParseJoins(SelectStatement& select) {
  for (;;) {
    JoinClause join;
    if (AcceptWord("left")) {
      join.left = true;
      AcceptWord("outer");
    } else if (!AcceptWord("inner") && !IsWord("join")) {
      return Status::Ok();
    }
    RETURN_IF_ERROR(ExpectWord("join"));
    ASSIGN_OR_RETURN(join.table, ParseTableFactor(select));
    RETURN_IF_ERROR(ExpectWord("on"));
    ASSIGN_OR_RETURN(join.condition, ParseExpr());
    select.joins.push_back(std::move(join));
  }
}

Status StatementParser::ParseSelectTail(SelectStatement& select) {
  if (AcceptWord("group")) {
    RETURN_IF_ERROR(ParseGroupBy(select));
  }
  for (bool within = true; within;) {
    within = false;
    if (select.within_group_order.empty() && AcceptWord("within")) {
      RETURN_IF_ERROR(ExpectWord("group"));
      RETURN_IF_ERROR(ExpectWord("order"));
      RETURN_IF_ERROR(ExpectWord("by"));
      RETURN_IF_ERROR(ParseOrderKeys(select.within_group_order));
      within = true;
    }
    if (select.having == nullptr && AcceptWord("having")) {
      ASSIGN_OR_RETURN(select.having, ParseExpr());
      within = true;
    }
  }
  if (AcceptWord("order")) {
    RETURN_IF_ERROR(ExpectWord("by"));
    RETURN_IF_ERROR(ParseOrderKeys(select.order_by));
  }
  if (AcceptWord("limit")) {
    ASSIGN_OR_RETURN(select.limit, ParseLimit());
  }
  RETURN_IF_ERROR(ParseSelectOptions(select));
  return ParseSelectEnd(select);
}

Status StatementParser::ParseGroupBy(SelectStatement& select) {
  if (token_.kind == TokenKind::kInteger) {
    const Token at = token_;
    ASSIGN_OR_RETURN(select.group_limit, ParseUnsigned());
    if (select.group_limit == 0) {
      return UnexpectedAt(at);
    }
  }
  RETURN_IF_ERROR(ExpectWord("by"));
  do {
    ASSIGN_OR_RETURN(ParsedExprPtr key, ParseExpr());
    select.group_by.push_back(std::move(key));
  } while (AcceptSign(','));
  return Status::Ok();
}

// OPTION a=1, b=2 and OPTION(t) (a=1), in any number.
Status StatementParser::ParseSelectOptions(SelectStatement& select) {
  while (AcceptWord("option")) {
    if (!AcceptSign('(')) {
      RETURN_IF_ERROR(ParseOptions(select.options));
      continue;
    }
    std::pair<std::string, std::vector<ParsedOption>> of_table;
    ASSIGN_OR_RETURN(of_table.first, ParseName());
    RETURN_IF_ERROR(ExpectSign(')'));
    RETURN_IF_ERROR(ExpectSign('('));
    RETURN_IF_ERROR(ParseOptions(of_table.second));
    RETURN_IF_ERROR(ExpectSign(')'));
    select.table_options.push_back(std::move(of_table));
  }
  return Status::Ok();
}

// Hints, facets, and the locking words that MySQL's clients add.
Status StatementParser::ParseSelectEnd(SelectStatement& select) {
  for (;;) {
    if (token_.kind == TokenKind::kHint) {
      RETURN_IF_ERROR(ParseHint(select.hints));
    } else if (AcceptWord("facet")) {
      ASSIGN_OR_RETURN(FacetClause facet, ParseFacet());
      select.facets.push_back(std::move(facet));
    } else if (IsWord("for") && (IsWordAhead("update") || IsWordAhead("share"))) {
      SkipWords();
    } else if (IsWord("lock") && IsWordAhead("in")) {
      SkipWords();
    } else {
      return Status::Ok();
    }
  }
}

Status StatementParser::ParseOrderKeys(std::vector<OrderKey>& keys) {
  do {
    ASSIGN_OR_RETURN(OrderKey key, ParseOrderKey());
    if (key.expr->kind != ParsedKind::kNull) {  // ORDER BY NULL: no order
      keys.push_back(std::move(key));
    }
  } while (AcceptSign(','));
  return Status::Ok();
}

Result<OrderKey> StatementParser::ParseOrderKey() {
  OrderKey key;
  ASSIGN_OR_RETURN(key.expr, ParseExpr());
  key.expr = SubstituteSortName(std::move(key.expr));
  if (AcceptWord("desc")) {
    key.descending = true;
  } else {
    AcceptWord("asc");
  }
  return key;
}

// n | offset, n | n OFFSET offset | -1. Behind the word LIMIT.
Result<LimitClause> StatementParser::ParseLimit() {
  LimitClause limit;
  if (IsSign('-')) {
    Advance();
    const Token at = token_;
    ASSIGN_OR_RETURN(const uint64_t one, ParseUnsigned());
    if (one != 1) {
      return UnexpectedAt(at);
    }
    limit.unlimited = true;
    return limit;
  }
  const bool unbound = token_.kind == TokenKind::kParameter && parameters_.empty();
  ASSIGN_OR_RETURN(const uint64_t first, ParseUnsigned());
  limit.limit = unbound ? std::nullopt : std::optional<uint64_t>(first);
  if (AcceptSign(',')) {
    limit.offset = first;
    const bool count_unbound = token_.kind == TokenKind::kParameter && parameters_.empty();
    ASSIGN_OR_RETURN(const uint64_t count, ParseUnsigned());
    limit.limit = count_unbound ? std::nullopt : std::optional<uint64_t>(count);
  } else if (AcceptWord("offset")) {
    ASSIGN_OR_RETURN(limit.offset, ParseUnsigned());
  }
  return limit;
}

// /*+ SecondaryIndex(a, b) NO_ColumnarScan(c) */; what is no such hint is MySQL's and ignored.
Status StatementParser::ParseHint(std::vector<IndexHint>& hints) {
  const std::string_view bytes = Bytes();
  StatementParser inner(bytes.substr(3, bytes.size() - 5), {});
  while (!inner.AtEnd()) {
    IndexHint hint;
    if (inner.token_.kind == TokenKind::kIdentifier && inner.IsSignAhead('(')) {
      ASSIGN_OR_RETURN(hint.name, inner.ParseAnyWord());
      inner.Advance();
      while (inner.token_.kind == TokenKind::kIdentifier || inner.token_.kind == TokenKind::kQuotedName) {
        ASSIGN_OR_RETURN(std::string column, inner.ParseAnyWord());
        hint.columns.push_back(std::move(column));
        inner.AcceptSign(',');
      }
      hints.push_back(std::move(hint));
    }
    inner.Advance();
  }
  Advance();
  return Status::Ok();
}

}  // namespace stoa::sql
