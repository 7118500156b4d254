#include "sql/parser/statement_parser.h"

// SHOW, DESCRIBE, EXPLAIN.
namespace stoa::sql {
namespace {

struct FixedShow {
  std::string_view words;  // as written
  std::string_view what;   // canonical
};

// Longer forms stand before their beginnings.
constexpr FixedShow kFixedShows[] = {
    {"databases", "databases"},
    {"schemas", "databases"},
    {"variables", "variables"},
    {"status", "status"},
    {"meta", "meta"},
    {"warnings", "warnings"},
    {"errors", "errors"},
    {"engines", "engines"},
    {"storage engines", "engines"},
    {"collation", "collation"},
    {"character set", "character set"},
    {"charset", "character set"},
    {"processlist", "processlist"},
    {"full processlist", "full processlist"},
    {"threads", "threads"},
    {"queries", "queries"},
    {"plugins", "plugins"},
    {"settings", "settings"},
    {"version", "version"},
    {"profile", "profile"},
    {"profiles", "profiles"},
    {"plan", "plan"},
    {"scroll", "scroll"},
    {"locks", "locks"},
    {"triggers", "triggers"},
    {"full triggers", "triggers"},
    {"function status", "function status"},
    {"procedure status", "procedure status"},
    {"package status", "procedure status"},
    {"package body status", "procedure status"},
    {"events", "events"},
    {"privileges", "privileges"},
    {"open tables", "open tables"},
    {"master status", "master status"},
    {"binary log status", "master status"},
    {"slave status", "slave status"},
    {"replica status", "slave status"},
    {"all slaves status", "slave status"},
    {"slave hosts", "slave hosts"},
    {"replicas", "slave hosts"},
    {"binary logs", "binary logs"},
    {"master logs", "binary logs"},
    {"grants", "grants"},
};

constexpr std::string_view kUnbuiltShows[] = {"users",    "token",        "permissions", "usage",
                                              "sharding", "chat",         "buddy",       "sources",
                                              "source",   "materialized", "mviews",      "mview"};

}  // namespace

Result<Statement> StatementParser::ParseShow() {
  Advance();
  for (std::string_view word : kUnbuiltShows) {
    if (IsWord(word)) {
      std::string what = "SHOW " + std::string(Bytes());
      SkipToEnd();
      return Statement(UnbuiltStatement{std::move(what), {}});
    }
  }
  ShowStatement show;
  if (IsAnyWord({"global", "session", "local"})) {
    show.scope = IsWord("global") ? "global" : "session";
    Advance();
  }
  RETURN_IF_ERROR(ParseShowSubject(show));
  RETURN_IF_ERROR(ParseShowTail(show));
  return Statement(std::move(show));
}

// The fixed word sequences of kFixedShows.
bool StatementParser::ParseFixedShow(ShowStatement& show) {
  for (const FixedShow& fixed : kFixedShows) {
    const Lexer saved_lexer = lexer_;
    const Token saved_token = token_;
    const Token saved_ahead = ahead_;
    const bool saved_has_ahead = has_ahead_;
    std::string_view rest = fixed.words;
    bool matches = true;
    while (matches && !rest.empty()) {
      const size_t blank = rest.find(' ');
      matches = AcceptWord(rest.substr(0, blank));
      rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
    }
    if (matches) {
      show.what = fixed.what;
      return true;
    }
    lexer_ = saved_lexer;
    token_ = saved_token;
    ahead_ = saved_ahead;
    has_ahead_ = saved_has_ahead;
  }
  return false;
}

Status StatementParser::ParseShowSubject(ShowStatement& show) {
  if (ParseFixedShow(show)) {
    return Status::Ok();
  }
  const bool extended = AcceptWord("extended");
  const bool full = AcceptWord("full") || extended;
  if (AcceptWord("tables")) {
    return ParseShowTables(show, full);
  }
  if (IsAnyWord({"columns", "fields"})) {
    return ParseShowColumns(show, full);
  }
  if (full) {
    return Unexpected();
  }
  if (AcceptWord("table")) {
    return ParseShowTable(show);
  }
  if (AcceptWord("create")) {
    return ParseShowCreate(show);
  }
  if (IsAnyWord({"index", "indexes", "keys"})) {
    return ParseShowIndex(show);
  }
  if (AcceptWord("count")) {
    RETURN_IF_ERROR(ExpectSign('('));
    RETURN_IF_ERROR(ExpectSign('*'));
    RETURN_IF_ERROR(ExpectSign(')'));
    show.what = IsWord("errors") ? "count errors" : "count warnings";
    return AcceptWord("errors") ? Status::Ok() : ExpectWord("warnings");
  }
  if (AcceptWord("engine")) {
    ASSIGN_OR_RETURN(show.argument, ParseTextOrWord());
    show.what = "engine status";
    SkipWords();
    return Status::Ok();
  }
  if (AcceptWord("agent")) {
    show.what = "agent status";
    if (!IsWord("status") || IsWordAhead("status")) {
      ASSIGN_OR_RETURN(show.argument, ParseTextOrWord());
    }
    return ExpectWord("status");
  }
  return Unexpected();
}

// SHOW [FULL] TABLES [FROM db], behind TABLES.
Status StatementParser::ParseShowTables(ShowStatement& show, bool full) {
  show.what = full ? "full tables" : "tables";
  return ParseFromDatabase(show);
}

Status StatementParser::ParseFromDatabase(ShowStatement& show) {
  if (AcceptWord("from") || AcceptWord("in")) {
    ASSIGN_OR_RETURN(show.table.database, ParseName());
  }
  return Status::Ok();
}

// TABLE STATUS [FROM db] (MySQL's), TABLE t [CHUNK n] STATUS | SETTINGS | INDEXES, TABLE TYPES.
Status StatementParser::ParseShowTable(ShowStatement& show) {
  const bool named = IsWordAhead("status") || IsWordAhead("settings") || IsWordAhead("indexes");
  if (IsWord("status") && !named) {
    Advance();
    show.what = "table status";
    return ParseFromDatabase(show);
  }
  if (IsWord("types") && !named) {
    Advance();
    show.what = "engines";
    return Status::Ok();
  }
  ASSIGN_OR_RETURN(show.table, ParseTableName());
  if (!show.table.suffix.empty() && show.table.suffix.front() != '@') {
    uint64_t chunk = 0;
    for (char c : show.table.suffix) {
      chunk = c >= '0' && c <= '9' ? chunk * 10 + static_cast<uint64_t>(c - '0') : chunk;
    }
    show.chunk = chunk;
    show.table.suffix.clear();
  }
  if (AcceptWord("status")) {
    show.what = "table_status_of";
  } else if (AcceptWord("settings")) {
    show.what = "table_settings";
  } else if (AcceptWord("indexes")) {
    show.what = "table_indexes";
  } else {
    return Unexpected();
  }
  return Status::Ok();
}

Status StatementParser::ParseShowCreate(ShowStatement& show) {
  if (AcceptWord("table")) {
    show.what = "create table";
    ASSIGN_OR_RETURN(show.table, ParseTableName());
    return Status::Ok();
  }
  if (AcceptWord("database") || AcceptWord("schema")) {
    show.what = "create database";
    if (AcceptWord("if")) {
      RETURN_IF_ERROR(ExpectWord("not"));
      RETURN_IF_ERROR(ExpectWord("exists"));
    }
    ASSIGN_OR_RETURN(show.argument, ParseName());
    return Status::Ok();
  }
  if (IsAnyWord({"view", "trigger", "function", "procedure", "event", "user"})) {
    show.what = "create other";
    ASSIGN_OR_RETURN(show.argument, ParseAnyWord());
    ASSIGN_OR_RETURN(show.table.name, ParseTextOrWord());
    return Status::Ok();
  }
  return Unexpected();
}

// [FULL] COLUMNS | FIELDS FROM t [FROM db].
Status StatementParser::ParseShowColumns(ShowStatement& show, bool full) {
  Advance();
  show.what = full ? "full columns" : "columns";
  if (!AcceptWord("from")) {
    RETURN_IF_ERROR(ExpectWord("in"));
  }
  ASSIGN_OR_RETURN(show.table, ParseTableName());
  return ParseFromDatabase(show);
}

// INDEX | INDEXES | KEYS FROM t [FROM db]; also INDEX t STATUS, an older spelling of TABLE t STATUS.
Status StatementParser::ParseShowIndex(ShowStatement& show) {
  const bool index = IsWord("index");
  Advance();
  if (!AcceptWord("from") && !AcceptWord("in")) {
    return index ? ParseShowTable(show) : Unexpected();
  }
  show.what = "index";
  ASSIGN_OR_RETURN(show.table, ParseTableName());
  return ParseFromDatabase(show);
}

// [FROM db] [LIKE 'x' | WHERE …] [LIMIT …] [OPTION …], and words that some forms carry.
Status StatementParser::ParseShowTail(ShowStatement& show) {
  if (show.what == "grants") {
    SkipToEnd();  // FOR CURRENT_USER(), FOR 'u'@'h'
    return Status::Ok();
  }
  RETURN_IF_ERROR(ParseFromDatabase(show));
  if (AcceptWord("like")) {
    ASSIGN_OR_RETURN(show.like, ParseText());
  } else if (AcceptWord("where")) {
    ASSIGN_OR_RETURN(show.where, ParseExpr());
  }
  if (AcceptWord("limit")) {
    RETURN_IF_ERROR(ParseLimit().status());
  }
  return ParseOptionsIfAny(show.options);
}

// DESC t [TABLE] [LIKE 'x' | column].
Result<Statement> StatementParser::ParseDescribe() {
  Advance();
  ShowStatement show;
  show.what = "describe";
  ASSIGN_OR_RETURN(show.table, ParseTableName());
  if (AcceptWord("table")) {
    show.argument = "table";
  }
  if (AcceptWord("like")) {
    ASSIGN_OR_RETURN(show.like, ParseText());
  } else if (IsName() || token_.kind == TokenKind::kString) {
    ASSIGN_OR_RETURN(show.like, ParseTextOrWord());
  }
  return Statement(std::move(show));
}

Result<Statement> StatementParser::ParseExplain() {
  if (Ahead().kind == TokenKind::kQuotedName ||
      (Ahead().kind == TokenKind::kIdentifier && !IsWordAhead("query") && !IsWordAhead("select") &&
       !IsWordAhead("format") && !IsWordAhead("extended") && !IsWordAhead("analyze") &&
       !IsWordAhead("partitions"))) {
    return ParseDescribe();  // EXPLAIN t
  }
  Advance();
  ExplainStatement explain;
  if (IsWord("query") && (Ahead().kind == TokenKind::kIdentifier || Ahead().kind == TokenKind::kQuotedName)) {
    Advance();
    ASSIGN_OR_RETURN(explain.table, ParseTableName());
    ASSIGN_OR_RETURN(explain.query, ParseText());
    RETURN_IF_ERROR(ParseOptionsIfAny(explain.options));
    return Statement(std::move(explain));
  }
  if (AcceptWord("format")) {
    RETURN_IF_ERROR(ExpectSign('='));
    RETURN_IF_ERROR(ParseTextOrWord().status());
  } else if (IsAnyWord({"extended", "analyze", "partitions"}) && IsWordAhead("select")) {
    Advance();
  }
  if (!IsWord("select")) {
    return Unexpected();
  }
  ASSIGN_OR_RETURN(explain.select, ParseSelect());
  return Statement(std::move(explain));
}

}  // namespace stoa::sql
