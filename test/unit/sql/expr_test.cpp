#include <catch2/catch.hpp>

#include "sql/expr/collation.h"
#include "sql/expr_fixture.h"

namespace stoa::sql {
namespace {

using storage::ColumnType;

ExprTable MakeTable() {
  ExprTable t;
  t.Ints("id", ColumnType::kId, ValueType::kBigint, {1, 2, 3});
  t.Ints("a", ColumnType::kInt, ValueType::kInt, {7, 4294967295, 0});
  t.Ints("b", ColumnType::kInt, ValueType::kInt, {2, 1, 0});
  t.Ints("big", ColumnType::kBigint, ValueType::kBigint, {-3, 5000000000, INT64_MIN});
  t.Floats("f", {0.3F, 19.45F, -1});
  t.Texts("s", ColumnType::kString, ValueType::kString, {"abc", "12", ""});
  t.Texts("title", ColumnType::kText, ValueType::kText, {"one two", "two", ""});
  t.Texts("hidden", ColumnType::kText, ValueType::kText, {"", "", ""});
  t.column("hidden").stored = false;
  t.Sets("m", {{1, 2, 3}, {2}, {}});
  t.Json("j", {R"({"x":1,"d":2.5,"s":"Vv","a b":5,"arr":[10,20],"o":{"p":7},"t":true})", R"({"x":2,"d":4})",
               "{}"});
  return t;
}

}  // namespace

TEST_CASE("32-bit integers wrap and are shown without sign, 64-bit operands widen", "[sql]") {
  ExprTable t;
  CHECK(t.Value1("1-2") == "4294967295");
  CHECK(t.Value1("2-5+10") == "7");
  CHECK(t.Value1("sint(1-2)") == "-1");
  CHECK(t.Value1("bigint(1)-2") == "-1");
  CHECK(t.Value1("5000000000 + 1") == "5000000001");
  CHECK(t.Value1("-1") == "-1");
  CHECK(t.Value1("-1 < 0") == "1");
  CHECK(t.Value1("9223372036854775807 + 1") == "-9223372036854775808");
  CHECK(t.Value1("1+2*3") == "7");
  CHECK(t.Value1("10/4") == "2.5");
  CHECK(t.Value1("10 DIV 4") == "2");
  CHECK(t.Value1("5.5 % 2") == "1.5");
}

TEST_CASE("division by zero is NULL and nothing traps", "[sql]") {
  ExprTable t;
  for (const char* text : {"5%0", "5 DIV 0", "5/0", "5.5%0", "5.5 DIV 0", "1+5%0"}) {
    CHECK(t.Value1(text) == "NULL");
  }
  CHECK(t.Value1("-9223372036854775808 DIV -1") == "-9223372036854775808");
  CHECK(t.Value1("-9223372036854775808 % -1") == "0");
  ExprTable rows = MakeTable();
  CHECK(rows.Values("(big-9223372036854775807) DIV big") == "-3074457345618258602 -1844674406 0");
  CHECK(rows.Values("big DIV (0-1)") == "0 1 -2147483648");
  CHECK(rows.Values("a DIV b") == "3 4294967295 NULL");
}

TEST_CASE("arithmetic over columns follows their widths", "[sql]") {
  ExprTable t = MakeTable();
  CHECK(t.Values("a+b") == "9 0 0");
  CHECK(t.Values("bigint(a)+b") == "9 4294967296 0");
  CHECK(t.Values("-big") == "3 -5000000000 -9223372036854775808");
  CHECK(t.Values("big+a") == "4 9294967295 -9223372036854775808");
  CHECK(t.Values("sint(b-a)") == "-5 2 0");
  CHECK(t.Values("a&4") == "4 4 0");
  CHECK(t.Values("a&3|8") == "11 11 8");
  CHECK(t.Value1("1<<40") == "1099511627776");
  CHECK(t.Value1("1<<64") == "0");
  CHECK(t.Values("f*2") == "0.6000000238418579 38.900001525878906 -2");
  CHECK(t.Values("m+1") == "table t: parse error: numeric operation on a multi-value column");
}

TEST_CASE("comparisons give 0 or 1, reals are equal within a millionth but not inside of IF", "[sql]") {
  ExprTable t = MakeTable();
  CHECK(t.Values("a>3") == "1 1 0");
  CHECK(t.Values("f=0.3") == "1 0 0");
  CHECK(t.Values("f=19.45") == "0 1 0");
  CHECK(t.Values("f*10=3") == "1 0 0");
  CHECK(t.Values("if(f*10=3,1,0)") == "0 0 0");
  CHECK(t.Values("s='ABC'") == "1 0 0");
  CHECK(t.Values("s=12") == "0 1 0");
  CHECK(t.Values("a='7'") == "1 0 0");
  CHECK(t.Values("NOT a") == "0 0 1");
  CHECK(t.Values("a>3 AND f<1") == "1 0 0");
  CHECK(t.Values("big<a") == "1 0 1");
  CHECK(t.Value1("18446744073709551615 > 1") == "1");
  CHECK(t.Value1("uint64(0-1) > bigint(-1)") == "1");
}

TEST_CASE("NULL follows SQL's logic", "[sql]") {
  ExprTable t;
  CHECK(t.Value1("NULL AND 0") == "0");
  CHECK(t.Value1("NULL AND 1") == "NULL");
  CHECK(t.Value1("NULL OR 1") == "1");
  CHECK(t.Value1("NOT NULL") == "NULL");
  CHECK(t.Value1("NULL = NULL") == "NULL");
  CHECK(t.Value1("NULL IS NULL") == "1");
  CHECK(t.Value1("1 IN (2, NULL)") == "NULL");
  CHECK(t.Value1("2 IN (2, NULL)") == "1");
  CHECK(t.Value1("coalesce(NULL, NULL, 3)") == "3");
  CHECK(t.Value1("nullif(5, 5)") == "NULL");
  CHECK(t.Value1("ifnull(5%0, 'none')") == "none");
}

TEST_CASE("JSON paths are followed and compute by value", "[sql]") {
  ExprTable t = MakeTable();
  CHECK(t.Values("j.x") == "1 2 NULL");
  CHECK(t.Values("t.j.x") == "1 2 NULL");
  CHECK(t.Values("j['a b']") == "5 NULL NULL");
  CHECK(t.Values("j.arr[1]") == "20 NULL NULL");
  CHECK(t.Values("j.o.p IS NULL") == "0 1 1");
  CHECK(t.Values("j.d*2") == "5 8 NULL");
  CHECK(t.Values("integer(j.x)") == "1 2 0");
  CHECK(t.Values("double(j.d)*integer(j.x)") == "2.5 8 0");
  CHECK(t.Values("to_string(j.s)") == "Vv  ");
  CHECK(t.Values("j.x = b") == "0 0 NULL");
  CHECK(t.Values("j.x < j.d") == "1 1 NULL");
  CHECK(t.Values("j AND 1") == "0 0 0");
  CHECK(t.Values("s.x") == "table t: parse error: unknown column: s.x");
}

TEST_CASE("IF, CASE and casts choose a common type", "[sql]") {
  ExprTable t = MakeTable();
  CHECK(t.Values("if(a>3, a, f)") == "7 4294967295 -1");
  CHECK(t.Values("if(a>3, 'yes', a)") == "yes yes 0");
  CHECK(t.Values("CASE b WHEN 2 THEN 'two' WHEN 1 THEN 'one' END") == "two one NULL");
  CHECK(t.Values("CASE WHEN a > 7 THEN 1 ELSE big END") == "-3 1 -9223372036854775808");
  CHECK(t.Values("CAST(s AS SIGNED)") == "0 12 0");
  CHECK(t.Values("CAST(f AS SIGNED)") == "0 19 -1");
  CHECK(t.Value1("CAST('12.7abc' AS DOUBLE)") == "12.7");
  CHECK(t.Value1("CAST(-1 AS UNSIGNED)") == "-1");
  CHECK(t.Values("CAST(a AS CHAR)") == "7 4294967295 0");
  CHECK(t.Value1("if(1>2, 10, 20)") == "20");
  CHECK(t.Values("if(a)") == "table t: parse error: if() called with 1 args, 3 args expected");
}

TEST_CASE("names that are not there or not stored are refused", "[sql]") {
  ExprTable t = MakeTable();
  CHECK(t.Values("nosuch") == "table t: parse error: unknown column: nosuch");
  CHECK(t.Values("hidden") ==
        "table t: parse error: field 'hidden' is not stored, see 'stored_fields' option");
  CHECK(t.Values("title") == "one two two ");
  CHECK(t.Values("@@answer") == "42 42 42");
  CHECK(t.Bind("@@nosuch").status().number() == 1193);
  CHECK(t.Bind("(SELECT 1)").status().number() == 1235);
  t.Alias("x1", "b+1");
  CHECK(t.Values("x1*2") == "6 4 2");
}

TEST_CASE("collations fold case beyond ASCII or compare bytes", "[sql]") {
  CHECK(EqualStrings(Collation::kLibcCi, "GRÖSSE Ж", "größse ж") == false);
  CHECK(EqualStrings(Collation::kLibcCi, "GRÖßE Ж", "größe ж"));
  CHECK(HashString(Collation::kLibcCi, "GRÖßE Ж") == HashString(Collation::kLibcCi, "größe ж"));
  CHECK(HashString(Collation::kLibcCi, "ABC") == HashString(Collation::kLibcCi, "abc"));
  CHECK_FALSE(EqualStrings(Collation::kBinary, "A", "a"));
  CHECK_FALSE(EqualStrings(Collation::kLibcCi, "cedar ", "cedar"));
  CHECK(CompareStrings(Collation::kLibcCi, "apple", "Banana") < 0);
  CHECK(CompareStrings(Collation::kBinary, "apple", "Banana") > 0);
  CHECK(CompareStrings(Collation::kLibcCi, "\xff", "\xff") == 0);
  CHECK(FoldKey(Collation::kLibcCi, "\xc3") == "\xc3");
  CHECK(CompareStrings(Collation::kLibcCi, "ab", "abc") < 0);
}

}  // namespace stoa::sql
