#include "sql/parser/parser.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sql/sql_error.h"

using namespace stoa::sql;  // NOLINT(google-build-using-namespace): a test of this namespace

namespace {

Statement Parse(std::string_view text, const std::vector<Value>& parameters = {}) {
  auto statement = ParseStatement(text, parameters);
  INFO(text);
  REQUIRE(statement.status().ToString() == "ok");
  return std::move(statement).value();
}

template <typename T>
T ParseAs(std::string_view text, const std::vector<Value>& parameters = {}) {
  Statement statement = Parse(text, parameters);
  INFO(text);
  REQUIRE(std::holds_alternative<T>(statement));
  return std::move(std::get<T>(statement));
}

std::string ErrorOf(std::string_view text, const std::vector<Value>& parameters = {}) {
  auto statement = ParseStatement(text, parameters);
  INFO(text);
  REQUIRE(!statement.ok());
  CHECK(ErrorNumber(statement.status()) == 1064);
  return statement.status().text();
}

// A short form of an expression tree, fully parenthesised.
std::string Show(const ParsedExpr& expr);

std::string ShowArgs(const ParsedExpr& expr) {
  std::string out;
  for (const auto& arg : expr.args) {
    out += (out.empty() ? "" : ",") + Show(*arg);
  }
  for (const auto& option : expr.options) {
    out += (out.empty() ? "" : ",") + option.name + "=" + Show(*option.value);
  }
  return out;
}

std::string Show(const ParsedExpr& expr) {
  static const char* const kSigns[] = {"",   "+",   "-",  "*",    "/", "%", "div", "=", "<>", "<",  "<=", ">",
                                       ">=", "and", "or", "not ", "-", "&", "|",   "^", "~",  "<<", ">>"};
  const std::string op = kSigns[static_cast<size_t>(expr.op)];
  std::string out;
  switch (expr.kind) {
    case ParsedKind::kInteger:
    case ParsedKind::kFloat:
      return expr.text;
    case ParsedKind::kString:
      return "'" + expr.text + "'";
    case ParsedKind::kNull:
      return "null";
    case ParsedKind::kBool:
      return expr.integer ? "true" : "false";
    case ParsedKind::kColumn:
      out = expr.name;
      for (const auto& step : expr.path) {
        out += step.index ? "[" + std::to_string(*step.index) + "]" : "." + step.name;
      }
      return out;
    case ParsedKind::kStar:
      return expr.name.empty() ? "*" : expr.name + ".*";
    case ParsedKind::kUnary:
      return op + "(" + ShowArgs(expr) + ")";
    case ParsedKind::kBinary:
      return "(" + Show(*expr.args[0]) + op + Show(*expr.args[1]) + ")";
    case ParsedKind::kBetween:
      return std::string(expr.negated ? "not" : "") + "between(" + ShowArgs(expr) + ")";
    case ParsedKind::kIn:
      return std::string(expr.negated ? "not" : "") + "in(" + ShowArgs(expr) + ")";
    case ParsedKind::kIsNull:
      return std::string(expr.negated ? "not" : "") + "isnull(" + ShowArgs(expr) + ")";
    case ParsedKind::kLike:
      return std::string(expr.negated ? "not" : "") + "like(" + ShowArgs(expr) + ")";
    case ParsedKind::kCase:
      return "case(" + ShowArgs(expr) + ")";
    case ParsedKind::kCast:
      return "cast(" + ShowArgs(expr) + " as " + expr.name + ")";
    case ParsedKind::kFunction:
      return expr.name + "(" + (expr.distinct ? "distinct " : "") + ShowArgs(expr) + ")";
    case ParsedKind::kLoop:
      return expr.name + "(" + Show(*expr.args[0]) + " for " + expr.text + " in " + Show(*expr.args[1]) + ")";
    case ParsedKind::kList:
      return "(" + ShowArgs(expr) + ")";
    case ParsedKind::kArray:
      return "[" + ShowArgs(expr) + "]";
    case ParsedKind::kNumbers:
      for (const float value : expr.numbers->floats) {
        out += fmt::format("{}{}", out.empty() ? "" : ",", value);
      }
      return expr.numbers->is_array ? "[" + out + "]" : "(" + out + ")";
    case ParsedKind::kOptionMap:
      return "{" + ShowArgs(expr) + "}";
    case ParsedKind::kInterval:
      return "interval " + ShowArgs(expr) + " " + expr.name;
    case ParsedKind::kSystemVariable:
      return "@@" + expr.qualifier + "." + expr.name;
    case ParsedKind::kUserVariable:
      return "@" + expr.name;
    case ParsedKind::kParameter:
      return expr.is_vector_parameter ? "?vec?" : "?";
    case ParsedKind::kMatch:
      return "match(" + expr.text + "," + expr.name + ")" + expr.alias;
    case ParsedKind::kKnn:
      return "knn(" + expr.name + "," + ShowArgs(expr) + ")" + expr.alias;
    case ParsedKind::kSubquery:
      return "(subquery)";
  }
  return "?";
}

std::string Expr(std::string_view text) {
  const auto select = ParseAs<SelectStatement>("SELECT " + std::string(text));
  REQUIRE(select.items.size() == 1);
  return Show(*select.items[0].expr);
}

std::string WhereOf(std::string_view text, const std::vector<Value>& parameters = {}) {
  const auto select = ParseAs<SelectStatement>("SELECT id FROM t WHERE " + std::string(text), parameters);
  return Show(*select.where);
}

}  // namespace

TEST_CASE("operators bind as in MySQL", "[sql]") {
  CHECK(Expr("1+2*3") == "(1+(2*3))");
  CHECK(Expr("a&3|8") == "((a&3)|8)");
  CHECK(Expr("1 << 2 + 3") == "(1<<(2+3))");
  CHECK(Expr("10 DIV 4 MOD 3") == "((10div4)%3)");
  CHECK(Expr("2^3*4") == "((2^3)*4)");
  CHECK(Expr("-a+b") == "(-(a)+b)");
  CHECK(Expr("NOT a=5 AND f<1") == "(not ((a=5))and(f<1))");
  CHECK(Expr("a OR b AND c") == "(aor(bandc))");
  CHECK(Expr("a || b && c") == "(aor(bandc))");
  CHECK(Expr("!a + 1") == "(not (a)+1)");
  CHECK(Expr("a BETWEEN 1 AND 2 AND b") == "(between(a,1,2)andb)");
  CHECK(Expr("a NOT IN (1,2) OR x IS NOT NULL") == "(notin(a,1,2)ornotisnull(x))");
  CHECK(Expr("s NOT LIKE 'a%'") == "notlike(s,'a%')");
  CHECK(Expr("s REGEXP '^a'") == "regex(s,'^a')");
  CHECK(Expr("a = 1 = 0") == "((a=1)=0)");
}

TEST_CASE("names, paths and functions", "[sql]") {
  CHECK(Expr("J.Key[0].b['x y']") == "j.Key[0].b.x y");
  CHECK(Expr("`Order`") == "order");
  CHECK(Expr("COUNT(*)") == "count(*)");
  CHECK(Expr("COUNT(DISTINCT a)") == "count(distinct a)");
  CHECK(Expr("if(in(x,1),mod(7,2),left(s,1))") == "if(in(x,1),mod(7,2),left(s,1))");
  CHECK(Expr("interval(n, 10, 20)") == "interval(n,10,20)");
  CHECK(Expr("date_add(t, INTERVAL 1 DAY)") == "date_add(t,interval 1 day)");
  CHECK(Expr("any(x.p > 15 AND x.q = 'x' FOR x IN j.o)") == "any(((x.p>15)and(x.q='x')) for x in j.o)");
  CHECK(Expr("geodist(a, b, {in=deg, out=km})") == "geodist(a,b,{in=deg,out=km})");
  CHECK(Expr("CASE a WHEN 1 THEN 'x' ELSE 'y' END") == "case(a,1,'x','y')");
  CHECK(Expr("CAST(LEAST(@@max_allowed_packet, 1) AS UNSIGNED)") ==
        "cast(least(@@.max_allowed_packet,1) as unsigned)");
  CHECK(Expr("@@GLOBAL.sql_mode") == "@@global.sql_mode");
  CHECK(Expr("@A") == "@a");
  CHECK(Expr("CURRENT_TIMESTAMP") == "current_timestamp()");
  CHECK(Expr("USER()") == "user()");
  CHECK(Expr("remap(n, n*2, (5, 25), (1, 0))") == "remap(n,(n*2),(5,25),(1,0))");
  CHECK(Expr("[[1,2],[3]]") == "[[1,2],[3]]");
  CHECK(Expr("_utf8mb4'abc'") == "'abc'");
  for (const char* name :
       {"user", "password", "role", "key", "date", "text", "type", "status", "group", "values"}) {
    CHECK(Expr(name) == name);
  }
}

TEST_CASE("integers keep their digits and say when they do not fit", "[sql]") {
  const auto select = ParseAs<SelectStatement>("SELECT 18446744073709551615, 18446744073709551616, 0x10, 7");
  CHECK(select.items[0].expr->unsigned_integer == UINT64_MAX);
  CHECK_FALSE(select.items[0].expr->out_of_range);
  CHECK(select.items[1].expr->out_of_range);
  CHECK(select.items[1].expr->text == "18446744073709551616");
  CHECK(select.items[2].expr->integer == 16);
  CHECK(select.items[3].expr->integer == 7);
}

TEST_CASE("items are named by their text", "[sql]") {
  const auto select = ParseAs<SelectStatement>(
      "SELECT Watts + 1, `Price`, CONCAT(S,'X y') , COUNT(*) AS `C`, a b, *, t.* FROM t");
  CHECK(select.items[0].source_text == "watts + 1");
  CHECK(select.items[1].source_text == "price");
  CHECK(select.items[2].source_text == "concat(s,'X y')");
  CHECK(select.items[3].alias == "c");
  CHECK(select.items[4].alias == "b");
  CHECK(select.items[5].expr->kind == ParsedKind::kStar);
  CHECK(Show(*select.items[6].expr) == "t.*");
}

TEST_CASE("SELECT takes all its clauses", "[sql]") {
  const auto select = ParseAs<SelectStatement>(
      "SELECT DISTINCT a, b FROM Manticore.t1 AS x, `t2` WHERE MATCH('@f q') AND a = 1 GROUP 3 BY a, b "
      "WITHIN GROUP ORDER BY c DESC HAVING count(*) > 1 ORDER BY a DESC, id, RAND() LIMIT 5, 10 "
      "OPTION ranker=expr('sum(lcs)'), field_weights=(title=10, body=3), cutoff=-1 /*+ NO_SecondaryIndex(a, "
      "b) */ "
      "FACET a AS z BY b DISTINCT c ORDER BY COUNT(*) DESC, FACET() LIMIT 2 FACET d ZEROES MODE strict ALL "
      "FILTERS");
  CHECK(select.distinct);
  REQUIRE(select.from.size() == 2);
  CHECK(select.from[0].database == "manticore");
  CHECK(select.from[0].alias == "x");
  CHECK(Show(*select.where) == "(match(@f q,)and(a=1))");
  CHECK(select.group_limit == 3);
  CHECK(select.group_by.size() == 2);
  CHECK(select.within_group_order[0].descending);
  CHECK(Show(*select.having) == "(count(*)>1)");
  CHECK(select.order_by.size() == 3);
  CHECK(select.limit.offset == 5);
  CHECK(*select.limit.limit == 10);
  CHECK(Show(*select.options[0].value) == "expr('sum(lcs)')");
  CHECK(Show(*select.options[1].value) == "{title=10,body=3}");
  REQUIRE(select.hints.size() == 1);
  CHECK(select.hints[0].name == "no_secondaryindex");
  CHECK(select.hints[0].columns == std::vector<std::string>{"a", "b"});
  REQUIRE(select.facets.size() == 2);
  CHECK(select.facets[0].items[0].alias == "z");
  CHECK(select.facets[0].distinct == "c");
  CHECK(Show(*select.facets[0].order[1].expr) == "facet()");
  CHECK(select.facets[1].zeroes);
  CHECK(select.facets[1].mode == "strict");
  CHECK(select.facets[1].filters == "all");
}

TEST_CASE("LIMIT has four forms", "[sql]") {
  CHECK(*ParseAs<SelectStatement>("SELECT a FROM t LIMIT 3").limit.limit == 3);
  CHECK(ParseAs<SelectStatement>("SELECT a FROM t LIMIT 3 OFFSET 4").limit.offset == 4);
  CHECK(ParseAs<SelectStatement>("SELECT a FROM t LIMIT -1").limit.unlimited);
  CHECK_FALSE(ParseAs<SelectStatement>("SELECT a FROM t").limit.limit.has_value());
  CHECK(*ParseAs<SelectStatement>("SELECT a FROM t LIMIT ?,?", {Value::Bigint(2), Value::String("7")})
             .limit.limit == 7);
  CHECK_FALSE(ParseAs<SelectStatement>("SELECT a FROM t LIMIT ?").limit.limit.has_value());
}

TEST_CASE("tables of FROM", "[sql]") {
  CHECK(ParseAs<SelectStatement>("SELECT a FROM t.@table").from[0].suffix == "@table");
  CHECK(ParseAs<SelectStatement>("SELECT a FROM t.0").from[0].suffix == "0");
  CHECK(ParseAs<SelectStatement>("SELECT a FROM t CHUNK 3").from[0].suffix == "3");
  const auto join = ParseAs<SelectStatement>(
      "SELECT * FROM a LEFT JOIN b ON a.x=b.y INNER JOIN c ON c.z = a.z WHERE b.id IS NULL");
  REQUIRE(join.joins.size() == 2);
  CHECK(join.joins[0].left);
  CHECK(Show(*join.joins[0].condition) == "(a.x=b.y)");
  const auto nested =
      ParseAs<SelectStatement>("SELECT * FROM (SELECT id FROM t LIMIT 3) ORDER BY id LIMIT 2");
  CHECK(nested.from[0].subquery != nullptr);
}

TEST_CASE("knn and MATCH are conditions", "[sql]") {
  CHECK(WhereOf("knn(v, 5, (1,-2.5)) AND n=1") == "(knn(v,5,(1,-2.5))and(n=1))");
  CHECK(WhereOf("knn(v, (1,0), {ef=100, oversampling=2.0}) AS x") == "knn(v,(1,0),ef=100,oversampling=2.0)x");
  CHECK(WhereOf("(MATCH('a') AS t AND knn(v, 'text'))") == "(match(a,)tandknn(v,'text'))");
  CHECK(WhereOf("MATCH('a', x) AND MATCH('b', y)") == "(match(a,x)andmatch(b,y))");
  CHECK(
      ErrorOf("SELECT id FROM t WHERE knn(v, 0, (0,0))").find("P01: k parameter must be positive near ')'") ==
      0);
  CHECK(ErrorOf("SELECT id FROM t WHERE knn(v, -1, (0,0))").find("P01: k parameter must be positive") == 0);
  CHECK(ErrorOf("SELECT id FROM t WHERE knn(v, (0,0), {nosuch=1})")
            .find("P01: Unable to parse KNN option 'nosuch'") == 0);
  CHECK(ErrorOf("SELECT id FROM t WHERE knn(v, (0,0), {ef='x'})")
            .find("P01: Unable to parse KNN option 'ef'") == 0);
  CHECK(ErrorOf("SELECT id FROM t WHERE knn(v, (0,0), {oversampling=0.5})").find("P01: Unable") == 0);
  CHECK(ErrorOf("SELECT id FROM t WHERE knn(v, ())").find("P01: syntax error") == 0);
  CHECK(ErrorOf("SELECT id FROM t WHERE MATCH('a') OR b=1")
            .find("P01: syntax error, unexpected 'OR' near 'OR b=1'") == 0);
  CHECK(ErrorOf("SELECT id FROM t WHERE b=1 OR MATCH('a')").find("P01: syntax error") == 0);
  CHECK(ErrorOf("SELECT id FROM t WHERE MATCH('a') AND MATCH('b')").find("P01: too many MATCH() clauses") ==
        0);
  CHECK(ErrorOf("SELECT id FROM t WHERE knn(v, (0,0)) OR b=1")
            .find("P01: syntax error, knn() can be joined to other conditions by AND only near 'knn(v") == 0);
  CHECK(ErrorOf("SELECT knn(v, (0,0)) FROM t").find("P01: syntax error, knn() can stand in a WHERE only") ==
        0);
}

TEST_CASE("syntax errors say what, where and which grammar", "[sql]") {
  CHECK(ErrorOf("SELEKT 1") == "P02: syntax error, unexpected identifier near 'SELEKT 1' (line 1, column 1)");
  CHECK(ErrorOf("SELECT * frm goods") ==
        "P01: syntax error, unexpected identifier near 'frm goods' (line 1, column 10)");
  CHECK(ErrorOf("SELECT FROM WHERE") ==
        "P01: syntax error, unexpected 'FROM' near 'FROM WHERE' (line 1, column 8)");
  CHECK(ErrorOf("SELECT id FROM t WHERE knn(v, NULL)")
            .find("P01: syntax error, unexpected null near 'NULL)'") == 0);
  CHECK(ErrorOf("CREATE TABLE (a int)") ==
        "P03: syntax error, unexpected '(' near '(a int)' (line 1, column 14)");
  CHECK(ErrorOf("SELECT\n 'ö', 1 +") ==
        "P01: syntax error, unexpected end of file near '' (line 2, column 10)");
  CHECK(ErrorOf("SELECT id FROM t WHERE n IN ()").find("P01: syntax error, unexpected ')'") == 0);
  CHECK(ErrorOf("DELETE FROM t").find("P01: syntax error, unexpected end of file") == 0);
  CHECK(ErrorOf("SHOW NOSUCH").find("P02: syntax error, unexpected identifier") == 0);
  CHECK(ErrorOf("SET = 1").find("P02: syntax error, unexpected '='") == 0);
  CHECK(ErrorOf("SELECT 'abc").find("P01: syntax error, unexpected unterminated string") == 0);
  CHECK(ErrorOf("CREATE TABLE t (a int NOT NULL)").find("P03: syntax error, unexpected 'NOT'") == 0);
  CHECK(ErrorOf("LOCK TABLE t READ").find("P02: syntax error") == 0);
  CHECK(ErrorOf("SELECT a FROM t UNION SELECT b FROM t").find("P01: syntax error, unexpected 'UNION'") == 0);
  CHECK(ErrorOf("SELECT " + std::string(5000, 'x') + " a b").size() < 400);
}

TEST_CASE("nesting has a limit instead of an end of the stack", "[sql]") {
  const std::string deep = "SELECT " + std::string(100000, '(') + "1" + std::string(100000, ')');
  CHECK(ErrorOf(deep).find("nested too deeply (limit 200)") != std::string::npos);
  std::string minus = "SELECT ";
  std::string sum = "SELECT 1";
  std::string either = "SELECT id FROM t WHERE id=0";
  for (int i = 0; i < 20000; ++i) {
    minus += "- ";
    sum += "+1";
    either += " OR id=1";
  }
  CHECK(ErrorOf(minus + "1").find("nested too deeply") != std::string::npos);
  CHECK(ErrorOf(sum).find("nested too deeply (limit 1000)") != std::string::npos);
  CHECK(ParseAs<SelectStatement>(either).where->depth < 20);
}

TEST_CASE("parameters take the place of literals", "[sql]") {
  CHECK(WhereOf("knn(v, (?VEC?)) AND price < ?", {Value::String("1, 0,-2.5"), Value::Bigint(-30)}) ==
        "(knn(v,(1,0,-2.5))and(price<-(30)))");
  CHECK(WhereOf("knn(v, (?VEC?)) AND price < ?") == "(knn(v,(?vec?))and(price<?))");
  CHECK(WhereOf("a = ? AND MATCH(?)", {Value::Double(1.5), Value::String("x y")}) ==
        "((a=1.5)andmatch(x y,))");
  CHECK(CountParameters("SELECT '?', ?, ?VEC? /* ? */").value() == 2);
  const auto insert = ParseAs<InsertStatement>("INSERT INTO t (id, m) VALUES (?, (?VEC?))",
                                               {Value::Bigint(4), Value::String("9,8,8")});
  CHECK(Show(*insert.rows[0][1]) == "(9,8,8)");
  const auto wrong = ParseStatement("SELECT ?, ?", std::vector<Value>{Value::Bigint(1)});
  REQUIRE_FALSE(wrong.ok());
  CHECK(ErrorNumber(wrong.status()) == 1210);
}

TEST_CASE("a list of nothing but numbers is read in one go, any other item by item", "[sql]") {
  const auto values_of = [](std::string_view list) {
    const std::string text = fmt::format("INSERT INTO t VALUES ({}, 7)", list);
    const auto insert = ParseAs<InsertStatement>(text);
    REQUIRE(insert.rows[0].size() == 2);
    CHECK(Show(*insert.rows[0][1]) == "7");
    const ParsedExpr& value = *insert.rows[0][0];
    return (value.kind == ParsedKind::kNumbers ? "numbers " : "items ") + Show(value);
  };
  CHECK(values_of("( 1 ,-2.5,\n+3e2, .5,6.,-.25 )") == "numbers (1,-2.5,300,0.5,6,-0.25)");
  CHECK(values_of("[1e-46,16777217]") == "numbers [0,16777216]");
  CHECK(values_of("[[1,2],[-3]]") == "items [[1,2],[-3]]");
  CHECK(values_of("()") == "items ()");
  CHECK(values_of("(1,/* two */2)") == "items (1,2)");
  CHECK(values_of("(1e39)") == "items (1e39)");
  CHECK(values_of("(0x10,'a',- 2)") == "items (16,'a',-(2))");
  const auto longest = ParseAs<InsertStatement>("INSERT INTO t VALUES ((9223372036854775807, 1))");
  CHECK(longest.rows[0][0]->numbers->text == "9223372036854775807, 1");
  CHECK(ErrorOf("INSERT INTO t VALUES ((1,2)").find("unexpected end of file") != std::string::npos);
  CHECK(ErrorOf("INSERT INTO t VALUES ((1,2,))").find("unexpected ')' near '))'") != std::string::npos);
  CHECK(ErrorOf("INSERT INTO t VALUES ((1,nan))").find("unexpected identifier near 'nan))'") !=
        std::string::npos);
  CHECK(ErrorOf("INSERT INTO t VALUES ((1 2))").find("unexpected integer near '2))'") != std::string::npos);
  CHECK(ErrorOf("INSERT INTO t VALUES ((1,2]))").find("unexpected ']'") != std::string::npos);
}

TEST_CASE("INSERT, REPLACE, UPDATE and DELETE", "[sql]") {
  const auto insert = ParseAs<InsertStatement>(
      "INSERT INTO t (id, `order`, v) VALUES (1,'a',(1,-2)), (2,\"b\",()), (3,-1e2,[[1],[2]])");
  CHECK(insert.columns == std::vector<std::string>{"id", "order", "v"});
  REQUIRE(insert.rows.size() == 3);
  CHECK(Show(*insert.rows[0][2]) == "(1,-2)");
  CHECK(Show(*insert.rows[2][1]) == "-(1e2)");
  // Whether a column takes NULL is for the one who knows the column.
  CHECK(Show(*ParseAs<InsertStatement>("INSERT INTO t VALUES (1, NULL)").rows[0][1]) == "null");
  CHECK(ParseAs<InsertStatement>("REPLACE INTO t SELECT * FROM u").select != nullptr);
  const auto partial = ParseAs<InsertStatement>("REPLACE INTO t SET a = 1, b = 'x' WHERE id = 7");
  CHECK(partial.is_partial);
  CHECK(Show(*partial.where) == "(id=7)");
  const auto update =
      ParseAs<UpdateStatement>("UPDATE t SET j.a[1] = 22, m=(1,2) WHERE id = 1 OPTION strict=1");
  CHECK(update.assignments[0].column == "j");
  CHECK(update.assignments[0].path.size() == 2);
  CHECK(update.options.size() == 1);
  CHECK(Show(*ParseAs<DeleteStatement>("DELETE FROM t WHERE id IN (1,2)").where) == "in(id,1,2)");
}

TEST_CASE("CREATE and ALTER TABLE", "[sql]") {
  const auto create = ParseAs<CreateTableStatement>(
      "CREATE TABLE IF NOT EXISTS T (Title text indexed stored, b bit(4), c int:7, `a b` int, "
      "v float_vector knn_type='hnsw' knn_dims='3' engine='columnar') min_infix_len='2' rt_mem_limit=16");
  CHECK(create.if_not_exists);
  CHECK(create.table.name == "t");
  REQUIRE(create.columns.size() == 5);
  CHECK(create.columns[0].flags == std::vector<std::string>{"indexed", "stored"});
  CHECK(*create.columns[1].type_argument == 4);
  CHECK(*create.columns[2].type_argument == 7);
  CHECK(create.columns[3].name == "a b");
  CHECK(create.columns[4].options.size() == 3);
  CHECK(create.settings.size() == 2);
  CHECK(ParseAs<CreateTableStatement>("CREATE TABLE t").columns.empty());
  CHECK(ParseAs<CreateTableStatement>("CREATE TABLE t LIKE u WITH DATA").with_data);
  CHECK(ParseAs<CreateTableStatement>("CREATE TABLE d type='distributed' local='a' local='b'")
            .settings.size() == 3);
  using Action = AlterTableStatement::Action;
  auto action = [](std::string_view text) { return ParseAs<AlterTableStatement>(text).action; };
  CHECK(action("ALTER TABLE t ADD COLUMN c float") == Action::kAddColumn);
  CHECK(action("ALTER TABLE t ADD COLUMN `order` int") == Action::kAddColumn);
  CHECK(action("ALTER TABLE t DROP COLUMN c") == Action::kDropColumn);
  CHECK(action("ALTER TABLE t MODIFY COLUMN c bigint") == Action::kModifyColumn);
  CHECK(action("ALTER TABLE t RENAME u") == Action::kRenameTable);
  CHECK(action("ALTER TABLE t RENAME COLUMN a TO b") == Action::kRenameColumn);
  CHECK(action("ALTER TABLE t rt_mem_limit='64M' access_plain_attrs='mmap'") == Action::kSettings);
  CHECK(action("ALTER TABLE t REBUILD SECONDARY") == Action::kRebuildSecondary);
  CHECK(action("ALTER TABLE t REBUILD KNN") == Action::kRebuildKnn);
}

TEST_CASE("SHOW and DESC", "[sql]") {
  auto what = [](std::string_view text) { return ParseAs<ShowStatement>(text).what; };
  CHECK(what("SHOW TABLES LIKE 'a%'") == "tables");
  CHECK(what("SHOW FULL TABLES FROM `Manticore` WHERE Table_type <> 'VIEW'") == "full tables");
  CHECK(what("SHOW TABLE STATUS FROM `Manticore` LIKE 't'") == "table status");
  CHECK(what("SHOW TABLE t STATUS LIKE 'ram%'") == "table_status_of");
  CHECK(what("SHOW TABLE status STATUS") == "table_status_of");
  CHECK(what("SHOW INDEX t STATUS") == "table_status_of");
  CHECK(what("SHOW INDEX FROM t FROM db") == "index");
  CHECK(what("SHOW TABLE t SETTINGS") == "table_settings");
  CHECK(*ParseAs<ShowStatement>("show table t chunk 99 status").chunk == 99);
  CHECK(what("SHOW CREATE TABLE t OPTION force=1") == "create table");
  CHECK(what("SHOW SESSION VARIABLES LIKE 'x'") == "variables");
  CHECK(what("SHOW VARIABLES WHERE Variable_name IN ('a','b') OR Variable_name = 'c'") == "variables");
  CHECK(what("SHOW GLOBAL STATUS") == "status");
  CHECK(what("SHOW COUNT(*) WARNINGS") == "count warnings");
  CHECK(what("SHOW FULL PROCESSLIST") == "full processlist");
  CHECK(what("SHOW FULL COLUMNS FROM t") == "full columns");
  CHECK(what("SHOW FUNCTION STATUS WHERE Db = 'x'") == "function status");
  CHECK(what("SHOW STORAGE ENGINES") == "engines");
  CHECK(what("SHOW GRANTS FOR 'root'@'%'") == "grants");
  CHECK(what("SHOW AGENT 'x' STATUS") == "agent status");
  CHECK(what("SHOW MASTER STATUS") == "master status");
  CHECK(what("DESC t LIKE 'a%'") == "describe");
  CHECK(*ParseAs<ShowStatement>("DESCRIBE t title").like == "title");
  CHECK(ParseAs<ExplainStatement>("EXPLAIN QUERY t 'a b'").query == "a b");
  CHECK(ParseAs<ExplainStatement>("EXPLAIN SELECT 1").select != nullptr);
}

TEST_CASE("SET in its forms", "[sql]") {
  const auto set = ParseAs<SetStatement>(
      "SET autocommit=1, sql_mode = concat(@@sql_mode,',STRICT'), NAMES utf8 COLLATE 'utf8_bin', "
      "@@session.a=ON, GLOBAL b = 2, "
      "@u := 'x', time_zone='+00:00'");
  REQUIRE(set.assignments.size() == 8);
  CHECK(set.assignments[2].scope == "names");
  CHECK(set.assignments[3].name == "collation_connection");
  CHECK(set.assignments[4].scope == "session");
  CHECK(Show(*set.assignments[4].value) == "on");
  CHECK(set.assignments[5].scope == "global");
  CHECK(set.assignments[6].scope == "user");
  CHECK(
      ParseAs<SetStatement>("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").assignments[0].scope ==
      "transaction");
  CHECK(ParseAs<SetStatement>("SET CHARACTER SET utf8").assignments[0].scope == "character set");
  CHECK(ParseAs<SetStatement>("SET NAMES DEFAULT").assignments[0].value->text == "default");
  CHECK(Show(*ParseAs<SetStatement>("SET sql_mode=(SELECT CONCAT(@@sql_mode,',A'))").assignments[0].value) ==
        "(subquery)");
  CHECK(Show(*ParseAs<SetStatement>("SET GLOBAL @ids = (1,2,3)").assignments[0].value) == "(1,2,3)");
  CHECK(Show(*ParseAs<SetStatement>("SET x = DEFAULT").assignments[0].value) == "default");
}

TEST_CASE("paths of BACKUP and IMPORT TABLE need no quotes", "[sql]") {
  const auto backup =
      ParseAs<BackupStatement>("BACKUP TABLES A, b OPTIONS async = yes TO /Var/back-ups/x.1;");
  REQUIRE(backup.tables.size() == 2);
  CHECK(backup.tables[0].name == "a");
  CHECK(backup.folder == "/Var/back-ups/x.1");
  CHECK(backup.options.size() == 1);
  CHECK(ParseAs<BackupStatement>("BACKUP TO /a OPTION compress=0").folder == "/a");
  CHECK(ParseAs<BackupStatement>("BACKUP TO '/a b'").tables.empty());
  CHECK(ParseAs<ImportTableStatement>("IMPORT TABLE t FROM /A/b").path == "/A/b");
  for (const char* text : {"BACKUP TO", "BACKUP TABLES TO /x", "BACKUP TO /a /b", "BACKUP TO '/a",
                           "IMPORT TABLE FROM /x", "IMPORT TABLE t FROM ", "FREEZE", "UNFREEZE t,"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseStatement(text).ok());
  }
}

TEST_CASE("every other statement is understood", "[sql]") {
  for (const char* text : {"BEGIN",
                           "START TRANSACTION WITH CONSISTENT SNAPSHOT",
                           "COMMIT",
                           "ROLLBACK TO SAVEPOINT x",
                           "SAVEPOINT x",
                           "RELEASE SAVEPOINT x",
                           "FLUSH RAMCHUNK t",
                           "FLUSH TABLES WITH READ LOCK",
                           "FLUSH TABLE t",
                           "FLUSH ATTRIBUTES",
                           "FLUSH LOGS",
                           "FLUSH HOSTNAMES",
                           "OPTIMIZE TABLE t OPTION sync=1, cutoff=1",
                           "LOCK TABLES `t` READ /*!32311 LOCAL */, u AS w LOW_PRIORITY WRITE",
                           "UNLOCK TABLES",
                           "KILL QUERY 5",
                           "USE `x`",
                           "CALL KEYWORDS('a', 't', 1 AS stats, 'hits' AS sort_mode)",
                           "CALL SNIPPETS(('a','b'), 't', 'a', 20 AS limit)",
                           "FREEZE t, u",
                           "UNFREEZE t",
                           "BACKUP TABLES a TO /x",
                           "BACKUP TO '/x' OPTION async=on, compress=0",
                           "IMPORT TABLE t FROM 'x'",
                           "ATTACH TABLE a TO TABLE b",
                           "RELOAD TABLES",
                           "CREATE USER 'u' IDENTIFIED BY 'p'",
                           "DROP FUNCTION f",
                           "GRANT read ON * TO 'u'",
                           "CREATE CLUSTER c",
                           "JOIN CLUSTER c AT 'x:1'",
                           "DELETE CLUSTER c",
                           "CREATE DATABASE x",
                           "DROP DATABASE x",
                           "ANALYZE TABLE t",
                           "CHECK TABLE t",
                           "HELP 'x'",
                           "/*!40000 ALTER TABLE `t` DISABLE KEYS */",
                           "",
                           ";",
                           "-- x",
                           "/*!40101 SET NAMES utf8 */;",
                           "SELECT /*!40001 SQL_NO_CACHE */ `id` FROM `t`",
                           "TRUNCATE TABLE t WITH RECONFIGURE",
                           "DROP TABLE IF EXISTS t",
                           "INSERT INTO c:t VALUES (1)",
                           "SELECT a FROM t FOR UPDATE",
                           "DESC t",
                           ";;",
                           "EXPLAIN t"}) {
    INFO(text);
    CHECK(ParseStatement(text).status().ToString() == "ok");
  }
  CHECK(ParseAs<SelectStatement>("SELECT /*!40001 SQL_NO_CACHE */ `id` FROM `t`").no_cache_hint);
  CHECK(ParseAs<UnbuiltStatement>("INSERT INTO c:t VALUES (1)").what == "a table of a cluster");
}

TEST_CASE("a batch is split outside of strings and comments", "[sql]") {
  using Views = std::vector<std::string_view>;
  CHECK(SplitStatements("a; b ;c") == Views{"a", "b", "c"});
  CHECK(SplitStatements("select ';' ; -- x;y\n b /* ; */ ;;") == Views{"select ';'", "-- x;y\n b /* ; */"});
  CHECK(SplitStatements("/*!40101 SET x=1 */;") == Views{"/*!40101 SET x=1 */"});
  CHECK(SplitStatements("  ") == Views{"  "});
  CHECK(SplitStatements(";;").size() == 1);
  CHECK(SplitStatements("select '\\';'; b").size() == 2);
  CHECK(SplitStatements("select 'a;b").size() == 1);
}
