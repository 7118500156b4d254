#include <catch2/catch.hpp>

#include "sql/expr_fixture.h"
#include "sql/session/session_state.h"

namespace stoa::sql {
namespace {

using storage::ColumnType;

ExprTable MakeTable() {
  ExprTable t;
  t.Ints("id", ColumnType::kId, ValueType::kBigint, {1, 2, 3, 4, 5});
  t.Ints("n", ColumnType::kInt, ValueType::kInt, {0, 5, 10, 4294967295, 7});
  t.Ints("b", ColumnType::kBigint, ValueType::kBigint, {-10, 0, 10, 10000000000, -1});
  t.Floats("f", {-1.5F, 0, 0.1F, 19.45F, 2.5F});
  t.Ints("k", ColumnType::kBool, ValueType::kInt, {1, 0, 1, 0, 1});
  t.Ints("ts", ColumnType::kTimestamp, ValueType::kInt, {100, 200, 300, 400, 500});
  t.Texts("s", ColumnType::kString, ValueType::kString, {"alder", "Beech", "cedar", "", "42"});
  t.Texts("title", ColumnType::kText, ValueType::kText, {"", "", "", "", ""});
  t.Texts("v", ColumnType::kFloatVector, ValueType::kFloatVector, {"", "", "", "", ""});
  t.Sets("m", {{1, 2, 3}, {2}, {}, {10, 20}, {3, 30}});
  t.Sets64("w", {{-1, 5}, {5}, {}, {10000000000}, {-6, -5}});
  t.Json("j", {R"({"n":5,"s":"Red","b":null,"a":[1,2]})", R"({"n":5.5,"s":"5","a":[]})",
               R"({"n":"5","o":{}})", R"({"n":true,"a":["x","y"]})", ""});
  return t;
}

}  // namespace

TEST_CASE("numbers are filtered by ranges and lists, out of range matches nothing", "[sql]") {
  ExprTable t = MakeTable();
  CHECK(t.Rows("n = 5") == "2");
  CHECK(t.Rows("5 < n") == "3 4 5");
  CHECK(t.Rows("n <> 5 AND n != 0") == "3 4 5");
  CHECK(t.Rows("n > 5.5") == "3 4 5");
  CHECK(t.Rows("n = 5.5") == "");
  CHECK(t.Rows("n < 0") == "");
  CHECK(t.Rows("n > 99999999999") == "");
  CHECK(t.Rows("n > -1") == "1 2 3 4 5");
  CHECK(t.Rows("id < 18446744073709551615") == "1 2 3 4 5");
  CHECK(t.Rows("id = 99999999999999999999999") == "");
  CHECK(t.Rows("n BETWEEN 5 AND 9.5") == "2 5");
  CHECK(t.Rows("n NOT BETWEEN 5 AND 10") == "1 4");
  CHECK(t.Rows("b IN (-10, 10000000000)") == "1 4");
  CHECK(t.Rows("b NOT IN (-10, 10000000000)") == "2 3 5");
  CHECK(t.Rows("n IN (7, 5, 99, 100000000)") == "2 5");
  CHECK(t.Rows("f = 19.45") == "4");
  CHECK(t.Rows("f <= 0.1 AND f >= 0") == "2 3");
  CHECK(t.Rows("f IN (2.5, 0.1)") == "3 5");
  CHECK(t.Rows("k = true") == "1 3 5");
  CHECK(t.Rows("1 = 1") == "1 2 3 4 5");
  CHECK(t.Rows("n") == "2 3 4 5");
  CHECK(t.Rows("f*2 > 4 OR b > n") == "4 5");
}

TEST_CASE("strings are filtered by collation and never as numbers", "[sql]") {
  ExprTable t = MakeTable();
  CHECK(t.Rows("s = 'BEECH'") == "2");
  CHECK(t.Rows("s > 'b'") == "2 3");
  CHECK(t.Rows("s <= 'alder'") == "1 4 5");
  CHECK(t.Rows("s = 'cedar '") == "");
  CHECK(t.Rows("s IN ('ALDER', '', 'x1', 'x2', 'x3', 'x4')") == "1 4");
  CHECK(t.Rows("s BETWEEN 'a' AND 'c'") == "1 2");
  CHECK(t.Rows("s LIKE '%E%'") == "1 2 3");
  CHECK(t.Rows("s NOT LIKE '_____'") == "4 5");
  CHECK(t.Rows("NOT s = 'cedar'") == "1 2 4 5");
  CHECK(t.Rows("s = 42") == "table t: unsupported filter on a 's' string column");
  CHECK(t.Rows("s IN (1, 2)") == "table t: unsupported filter on a 's' string column");
  CHECK(t.Rows("n = '5'") == "table t: unsupported filter type 'string' on attribute 'n'");
  CHECK(t.Rows("n IN ('1', '2')") == "table t: unsupported filter type 'stringlist' on attribute 'n'");
  CHECK(t.Rows("ts > '2024-01-01'") == "table t: unsupported filter type 'string' on attribute 'ts'");
  CHECK(t.Rows("ts BETWEEN 'a' AND 'b'") == "table t: unsupported filter type 'string' on attribute 'ts'");
  CHECK(t.Rows("title = 'x'") ==
        "table t: unsupported filter on field 'title' (filters are supported only on attributes, not stored "
        "fields)");
  t.column("title").stored = false;
  CHECK(t.Rows("if(title='x', 1, 0) = 1") ==
        "table t: parse error: field 'title' is not stored, see 'stored_fields' option");
  CHECK(t.Rows("v = 1") == "table t: unsupported filter on a 'v' float vector column");
  CHECK(t.Rows("nosuch = 1") == "table t: unknown column: nosuch");
}

TEST_CASE("quoted numbers compare with the id", "[sql]") {
  ExprTable t = MakeTable();
  CHECK(t.Rows("id >= '4'") == "4 5");
  CHECK(t.Rows("id IN ('1', '3')") == "1 3");
  CHECK(t.Rows("id = 'x'") == "table t: unsupported filter type 'string' on attribute 'id'");
}

TEST_CASE("sets pass by any or all of their values, empty sets never", "[sql]") {
  ExprTable t = MakeTable();
  CHECK(t.Rows("ANY(m) = 2") == "1 2");
  CHECK(t.Rows("m = 2") == "1 2");
  CHECK(t.Rows("ALL(m) = 2") == "2");
  CHECK(t.Rows("ANY(m) > 9") == "4 5");
  CHECK(t.Rows("ALL(m) > 9") == "4");
  CHECK(t.Rows("ANY(m) BETWEEN 3 AND 10") == "1 4 5");
  CHECK(t.Rows("ALL(m) IN (1,2,3)") == "1 2");
  CHECK(t.Rows("ANY(m) NOT IN (1, 2, 3) AND id <> 3") == "4 5");
  CHECK(t.Rows("ALL(w) < 0") == "5");
  CHECK(t.Rows("ANY(w) = 10000000000") == "4");
  CHECK(t.Rows("m = 1 AND m = 3") == "1");
  CHECK(t.warnings.empty());
  CHECK(t.Rows("m IN (2, 30)") == "1 2 5");
  CHECK(t.warnings.size() == 1);
  CHECK(t.Rows("m = 'x'") == "table t: unsupported filter type 'string' on attribute 'm'");
  CHECK(t.Rows("ANY(n) = 1") == "table t: ANY() takes a multi-value or JSON column");
}

TEST_CASE("JSON compares by its own type and absent values match nothing", "[sql]") {
  ExprTable t = MakeTable();
  CHECK(t.Rows("j.n = 5") == "1");
  CHECK(t.Rows("j.n > 5") == "2");
  CHECK(t.Rows("j.n = '5'") == "3");
  CHECK(t.Rows("j.n = true") == "4");
  CHECK(t.Rows("j.n <> 5") == "2 3 4");
  CHECK(t.Rows("NOT j.n = 5") == "2 3 4");
  CHECK(t.Rows("j.s = 'red'") == "1");
  CHECK(t.Rows("j.b IS NULL") == "1 2 3 4 5");
  CHECK(t.Rows("j.a IS NOT NULL") == "1 2 4");
  CHECK(t.Rows("j.a IN (2, 7)") == "1");
  CHECK(t.Rows("j.a NOT IN (2, 7)") == "2 4");
  CHECK(t.Rows("ANY(j.a) = 'Y'") == "4");
  CHECK(t.Rows("ALL(j.a) < 3") == "1");
  CHECK(t.Rows("integer(j.n) = 5") == "1 2 3");
  CHECK(t.Rows("j.o = 1 OR j IN (1)") == "");
}

TEST_CASE("filters take aliases, user lists and calls, and refuse aggregates", "[sql]") {
  ExprTable t = MakeTable();
  t.Alias("x1", "n*2");
  t.Alias("u", "s");
  CHECK(t.Rows("x1 > 13") == "3 4 5");
  CHECK(t.Rows("u = 5") == "table t: unsupported filter on a 'u' string column");
  t.Variable("list", {ValueType::kMulti64, 0, 0, std::string("\5\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0", 16)});
  CHECK(t.Rows("n IN @list") == "2 5");
  CHECK(t.Rows("n IN @nosuch") == "table t: undefined user variable '@nosuch' in IN");
  CHECK(t.Rows("weight() > 1000") == "1 2 3 4 5");
  CHECK(t.Rows("count(*) > 1").find("use 'HAVING'") != std::string::npos);
  CHECK(t.Rows("n IN (b, 5)") == "2 3");
  CHECK(t.Rows("if(n > 5, 1, 0)") == "3 4 5");
  t.Texts("tags", ColumnType::kString, ValueType::kString, {"red blue", "blue", " red", "redder", ""});
  CHECK(t.Rows("tags ANY('Red', 'x')") == "1 3");
  CHECK(t.Rows("tags NOT ALL('red', 'blue')") == "2 3 4 5");
}

TEST_CASE("LIKE knows %, _ and the backslash", "[sql]") {
  CHECK(MatchesLike("", "%"));
  CHECK(MatchesLike("Tables", "t%S"));
  CHECK(MatchesLike("a%b", "a\\%b"));
  CHECK_FALSE(MatchesLike("axb", "a\\%b"));
  CHECK(MatchesLike("größe", "gr__e"));
  CHECK_FALSE(MatchesLike("abc", "ab"));
  CHECK(MatchesLike("aaaaaaaaab", "%a%a%b"));
}

}  // namespace stoa::sql
