#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/parser/ast.h"
#include "sql/parser/lexer.h"
#include "sql/value.h"
#include "storage/base/result.h"

namespace stoa::sql {

// The recursive-descent parser behind ParseStatement(); its methods are spread over parser_*.cpp by statement
// family. Each Parse…() stands at the first token of what it parses and leaves the first token after it. One
// use, one thread.
class StatementParser {
 public:
  StatementParser(std::string_view text, std::span<const Value> parameters);

  Result<Statement> Parse();

 private:
  class NestingGuard;
  enum class NullPolicy : uint8_t { kRefuse, kAccept };

  // Tokens (statement_parser.cpp).
  const Token& token() const { return token_; }
  void Advance();
  const Token& Ahead();
  std::string_view Bytes() const { return lexer_.Bytes(token_); }
  bool AtEnd() const { return token_.kind == TokenKind::kEnd || IsSign(';'); }
  bool IsWord(std::string_view lower) const;
  bool IsWordAhead(std::string_view lower);
  bool IsSign(uint8_t sign) const { return token_.kind == TokenKind::kSign && token_.sign == sign; }
  bool IsSignAhead(uint8_t sign);
  bool AcceptWord(std::string_view lower);
  bool AcceptSign(uint8_t sign);
  Status ExpectWord(std::string_view lower);
  Status ExpectSign(uint8_t sign);
  bool IsAnyWord(std::initializer_list<std::string_view> words) const;
  void SkipToEnd();
  std::string SkipWords();

  // Errors.
  Status Unexpected() const { return UnexpectedAt(token_); }
  Status UnexpectedAt(const Token& token) const;
  Status ErrorNear(std::string_view text, const Token& token) const;
  Status MisplacedSearch(const Token& at) const;
  std::string Describe(const Token& token) const;

  // Names (statement_parser.cpp). A name is a bare word that is not reserved, or anything in back-quotes.
  bool IsName() const;
  Result<std::string> ParseName();
  Result<std::string> ParseAnyWord();  // reserved ones too: after '.', AS
  Result<std::string> ParseText();     // string literal or bound parameter
  Result<std::string> ParseTextOrWord();
  Result<uint64_t> ParseUnsigned();
  Result<TableReference> ParseTableName();
  Status ParseTableSuffix(TableReference& table);
  Result<std::vector<TableReference>> ParseTableNames();
  std::string LowerText(uint32_t begin, uint32_t end) const;

  // Expressions (parser_expr.cpp).
  Result<ParsedExprPtr> ParseExpr();
  Result<ParsedExprPtr> ParseFilter();
  Result<ParsedExprPtr> ParseOr();
  Result<ParsedExprPtr> ParseAnd();
  Result<ParsedExprPtr> ParseNot();
  Result<ParsedExprPtr> ParseComparison();
  Result<ParsedExprPtr> ParseComparisonTail(ParsedExprPtr left);
  Result<ParsedExprPtr> ParseWordTail(ParsedExprPtr left, bool negated);
  Result<ParsedExprPtr> ParseBetween(ParsedExprPtr left, bool negated);
  Result<ParsedExprPtr> ParseIn(ParsedExprPtr left, bool negated);
  Result<ParsedExprPtr> ParseLike(ParsedExprPtr left, bool negated);
  Result<ParsedExprPtr> ParseIs(ParsedExprPtr left);
  Result<ParsedExprPtr> ParseBinary(int minimum);
  Result<ParsedExprPtr> ParseUnary();
  ParsedExprPtr MakeNode(ParsedKind kind, uint32_t begin) const;
  Result<ParsedExprPtr> Finish(ParsedExprPtr node) const;
  Result<ParsedExprPtr> MakeUnary(Operator op, ParsedExprPtr operand, uint32_t begin) const;
  Result<ParsedExprPtr> MakeBinary(Operator op, ParsedExprPtr left, ParsedExprPtr right) const;
  Result<ParsedExprPtr> MakeBalanced(Operator op, std::span<ParsedExprPtr> operands) const;

  // Primaries (parser_primary.cpp).
  Result<ParsedExprPtr> ParsePrimary();
  Result<ParsedExprPtr> ParseSignPrimary();
  Result<ParsedExprPtr> ParseParenthesis();
  Result<ParsedExprPtr> ParseWordPrimary();
  Result<ParsedExprPtr> ParseSpecialWord(bool* special);
  Result<ParsedExprPtr> ParseColumn();
  Status ParsePath(ParsedExpr& node);
  Result<ParsedExprPtr> ParseCase();
  Result<ParsedExprPtr> ParseCast();
  Result<ParsedExprPtr> ParseInterval();
  Result<ParsedExprPtr> ParseSystemVariable();
  Result<ParsedExprPtr> ParseUserVariable();
  Result<ParsedExprPtr> ParseSubquery();

  // Function calls (parser_function.cpp).
  Result<ParsedExprPtr> ParseFunction();
  Status ParseArguments(ParsedExpr& call);
  Status ParseConcatOptions(ParsedExpr& call);
  Result<ParsedExprPtr> ParseMatch();
  Result<ParsedExprPtr> ParseKnn();
  Result<ParsedExprPtr> ParseKnnArgument();
  Status CheckKnnCount(const ParsedExpr& count) const;
  Status ParseKnnQuery(ParsedExpr& knn);
  Status ParseKnnOptions(ParsedExpr& knn);

  // Literals, lists, options (parser_literal.cpp).
  Result<ParsedExprPtr> ParseNumber();
  Result<ParsedExprPtr> ParseString();
  Result<ParsedExprPtr> ParseParameter();
  Result<ParsedExprPtr> MakeParameterValue(const Value& value, uint32_t begin) const;
  Status AppendVectorParameter(std::vector<ParsedExprPtr>& list);
  Result<ParsedExprPtr> ParseConstant(NullPolicy nulls);
  Result<ParsedExprPtr> ParseConstantList(NullPolicy nulls);
  ParsedExprPtr ParseNumberList();
  ParsedExprPtr MakeNumberList(std::string_view text, bool is_array, uint32_t begin) const;
  Result<ParsedExprPtr> ParseArray();
  Result<ParsedExprPtr> ParseOptionMap(uint8_t close);
  Result<ParsedOption> ParseOption();
  Result<ParsedExprPtr> ParseOptionValue();
  Result<ParsedExprPtr> ParseOptionList();
  Status ParseOptions(std::vector<ParsedOption>& options);
  Status ParseOptionsIfAny(std::vector<ParsedOption>& options);
  ParsedExprPtr MakeInteger(std::string_view digits, uint32_t begin) const;
  ParsedExprPtr MakeText(std::string text, uint32_t begin) const;
  const Value* TakeParameter();

  // SELECT (parser_select.cpp, parser_facet.cpp).
  Result<Statement> ParseSelectStatement();
  Result<std::unique_ptr<SelectStatement>> ParseSelect();
  Status ParseSelectModifiers(SelectStatement& select);
  Result<SelectItem> ParseSelectItem(bool in_facet);
  Result<std::string> ParseAliasIfAny(bool in_facet);
  Status ParseFrom(SelectStatement& select);
  Result<TableReference> ParseTableFactor(SelectStatement& select);
  Status ParseJoins(SelectStatement& select);
  Status ParseIndexHintWords(SelectStatement& select);
  Status ParseSelectTail(SelectStatement& select);
  Status ParseGroupBy(SelectStatement& select);
  Status ParseSelectOptions(SelectStatement& select);
  Status ParseSelectEnd(SelectStatement& select);
  Status ParseOrderKeys(std::vector<OrderKey>& keys);
  Result<OrderKey> ParseOrderKey();
  Result<LimitClause> ParseLimit();
  Status ParseHint(std::vector<IndexHint>& hints);
  Result<FacetClause> ParseFacet();
  Status ParseFacetClause(FacetClause& facet, bool* found);
  Status ParseFacetFilters(FacetClause& facet);

  // INSERT, REPLACE, UPDATE, DELETE (parser_dml.cpp).
  Result<Statement> ParseInsert(bool replace);
  Status ParseInsertColumns(InsertStatement& insert);
  Status ParseInsertRows(InsertStatement& insert);
  Status ParseInsertSet(InsertStatement& insert);
  Result<Statement> ParseUpdate();
  Result<Assignment> ParseAssignment();
  Result<Statement> ParseDelete();

  // CREATE, DROP, ALTER, TRUNCATE (parser_ddl.cpp, parser_alter.cpp).
  Result<Statement> ParseCreate();
  Result<Statement> ParseCreateTable();
  Result<Statement> ParseCreateOther();
  Result<ParsedColumn> ParseColumnDefinition();
  Status ParseColumnType(ParsedColumn& column);
  Status ParseColumnAttributes(ParsedColumn& column);
  Result<ParsedOption> ParseSetting();
  Result<Statement> ParseDrop();
  Result<Statement> ParseTruncate();
  Result<Statement> ParseAlter();
  Status ParseAlterAction(AlterTableStatement& alter);
  Status ParseAlterAdd(AlterTableStatement& alter);
  Status ParseAlterModify(AlterTableStatement& alter);
  Status ParseAlterRename(AlterTableStatement& alter);
  Status ParseAlterRebuild(AlterTableStatement& alter);

  // SHOW, DESCRIBE, EXPLAIN (parser_show.cpp).
  Result<Statement> ParseShow();
  Status ParseShowSubject(ShowStatement& show);
  bool ParseFixedShow(ShowStatement& show);
  Status ParseShowTables(ShowStatement& show, bool full);
  Status ParseShowTable(ShowStatement& show);
  Status ParseShowCreate(ShowStatement& show);
  Status ParseShowColumns(ShowStatement& show, bool full);
  Status ParseShowIndex(ShowStatement& show);
  Status ParseShowTail(ShowStatement& show);
  Status ParseFromDatabase(ShowStatement& show);
  Result<Statement> ParseDescribe();
  Result<Statement> ParseExplain();

  // SET (parser_set.cpp).
  Result<Statement> ParseSet();
  Status ParseSetItem(SetStatement& set);
  Status ParseSetNames(SetStatement& set, std::string_view scope);
  Status ParseSetTransaction(SetStatement& set);
  Result<ParsedExprPtr> ParseSetValue();

  // FLUSH, OPTIMIZE, FREEZE, BACKUP, IMPORT (parser_maintenance.cpp).
  Result<Statement> ParseFlush();
  Result<Statement> ParseOptimize();
  Result<Statement> ParseFreeze();
  Result<Statement> ParseBackup();
  Result<Statement> ParseImport();
  Result<Statement> ParseDebug();
  Result<std::string> ParseFolder();

  // The rest (parser_admin.cpp).
  Result<Statement> ParseLockTables();
  Result<Statement> ParseUnlockTables();
  Result<Statement> ParseKill();
  Result<Statement> ParseUse();
  Result<Statement> ParseCall();
  Result<Statement> ParseTransaction();
  Result<Statement> ParseMaintenance();
  Result<Statement> ParseHelp();
  Result<Statement> ParseByFirstWord();
  std::optional<Statement> ParseUnbuilt();

  Lexer lexer_;
  std::span<const Value> parameters_;
  Token token_;
  Token ahead_;
  bool has_ahead_ = false;
  uint32_t previous_end_ = 0;  // end of the token before token_
  size_t next_parameter_ = 0;
  std::string_view prefix_ = "P02";
  std::string unbuilt_;  // a part that is understood but not built: the statement becomes an UnbuiltStatement
  int nesting_ = 0;
  bool in_where_ = false;       // MATCH and knn are conditions of a WHERE only
  size_t full_text_count_ = 0;  // MATCH() and knn() so far in this WHERE
  Token last_full_text_;
  size_t last_number_count_ = 0;  // of the last list of numbers: the next is often as long
  std::vector<std::string> match_tables_;
};

// Counts how deep the parser has recursed; ok() is false beyond the limit.
class StatementParser::NestingGuard {
 public:
  explicit NestingGuard(StatementParser& parser) : parser_(parser) { ++parser_.nesting_; }
  ~NestingGuard() { --parser_.nesting_; }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;
  Status Check() const;

 private:
  StatementParser& parser_;
};

}  // namespace stoa::sql
