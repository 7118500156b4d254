#include <catch2/catch.hpp>

#include "sql/functions_fixture.h"

namespace stoa::sql {
namespace {

using test::TestTable;

TestTable Numbers() {
  TestTable table;
  table.AddInts("n", {9, 0, 100});
  table.AddBigints("b", {-9, 0, 100000000000});
  table.AddFloats("f", {2.5F, 0, -0.5F});
  table.AddJson("j", {R"({"k":3})", R"({"k":2.5})", "{}"});
  table.AddInts("w", {5, 7, 30});
  return table;
}

TEST_CASE("mathematical functions give what a calculator gives and 0 outside of their domain", "[sql]") {
  TestTable t = Numbers();
  CHECK(t.Ask("abs(b)") == "9|0|100000000000");
  CHECK(t.Ask("abs(f)") == "2.500000|0.000000|0.500000");
  CHECK(t.Ask("abs(n)") == "9|0|100");
  CHECK(t.Ask("ceil(f)") == "3|0|0");
  CHECK(t.Ask("floor(f)") == "2|0|-1");
  CHECK(t.Ask("sqrt(f)") == "1.58113883008419|0.000000|0.000000");
  CHECK(t.Ask("ln(n)") == "2.19722457733622|0.000000|4.60517018598809");
  CHECK(t.Ask("log2(n)") == "3.16992500144231|0.000000|6.64385618977472");
  CHECK(t.Ask("log(2, 8)") == "3.000000|3.000000|3.000000");
  CHECK(t.Ask("pow(0,0)") == "1.000000|1.000000|1.000000");
  CHECK(t.Ask("exp(10000)") == "0.000000|0.000000|0.000000");
  CHECK(t.Ask("floor(b/2)") == "-5|0|50000000000");
  CHECK(t.Ask("abs(0-9223372036854775807-1)") ==
        "9223372036854775807|9223372036854775807|9223372036854775807");
  CHECK(t.Ask("floor(1e30)") == "9223372036854775807|9223372036854775807|9223372036854775807");
  CHECK(t.Ask("degrees(pi())") == "180.000000|180.000000|180.000000");
}

TEST_CASE("functions of absent JSON values are NULL", "[sql]") {
  TestTable t = Numbers();
  CHECK(t.Ask("sqrt(j.k)") == "1.73205080756888|1.58113883008419|NULL");
  CHECK(t.Ask("histogram(j.k, {hist_interval=2})") == "2|2|NULL");
  CHECK(t.Ask("sqrt(NULL)") == "NULL|NULL|NULL");
  CHECK(t.Ask("concat('a', NULL)") == "NULL|NULL|NULL");
}

TEST_CASE("min and max of several arguments keep the common type", "[sql]") {
  TestTable t = Numbers();
  CHECK(t.Ask("min(n,5)") == "5|0|5");
  CHECK(t.Ask("max(b,n)") == "9|0|100000000000");
  CHECK(t.Ask("min(f,n)") == "2.500000|0.000000|-0.500000");
  CHECK(t.Ask("greatest('a','c','b')") == "c|c|c");
  CHECK(t.Ask("greatest(f)").starts_with("error: table t: parse error: greatest() of one argument"));
}

TEST_CASE("whole-number functions never trap", "[sql]") {
  TestTable t = Numbers();
  CHECK(t.Ask("idiv(b,4)") == "-2|0|25000000000");
  CHECK(t.Ask("idiv(n,0)") == "NULL|NULL|NULL");
  CHECK(t.Ask("idiv(-9223372036854775808,-1)") ==
        "-9223372036854775808|-9223372036854775808|-9223372036854775808");
  CHECK(t.Ask("mod(n,7)") == "2|0|2");
  CHECK(t.Ask("mod(n,0)") == "NULL|NULL|NULL");
  CHECK(t.Ask("mod(-9223372036854775808,-1)") == "0|0|0");
  CHECK(t.Ask("fibonacci(10)") == "55|55|55");
  CHECK(t.Ask("fibonacci(48)") == "512559680|512559680|512559680");
  CHECK(t.Ask("bitdot(w, 1, 10, 100)") == "101|111|110");
  CHECK(t.Ask("bitdot(w, 0.5, 10, 100)") == "100.500000|110.500000|110.000000");
  CHECK(t.Ask("madd(n, 2, 1)") == "19|1|201");
  CHECK(t.Ask("mul3(n, f, 2)") == "45.000000|0.000000|-100.000000");
  CHECK(t.Ask("mul3(4294967295, 2, 1)") == "4294967294|4294967294|4294967294");
}

TEST_CASE("round goes half away from zero and keeps whole numbers whole", "[sql]") {
  TestTable t = Numbers();
  CHECK(t.Ask("round(f)") == "3.000000|0.000000|-1.000000");
  CHECK(t.Ask("round(1.005, 2)") == "1.010000|1.010000|1.010000");
  CHECK(t.Ask("round(0.49999999999999994)") == "0.000000|0.000000|0.000000");
  CHECK(t.Ask("round(n, -1)") == "10|0|100");
  CHECK(t.Ask("round(n, -400)") == "0|0|0");
  CHECK(t.Ask("truncate(2.789, 2)") == "2.780000|2.780000|2.780000");
  CHECK(t.Ask("truncate(f, 0)") == "2.000000|0.000000|0.000000");
  CHECK(t.Ask("sign(b)") == "-1|0|1");
}

TEST_CASE("rand gives another number for each row, and the same sequence for the same seed", "[sql]") {
  TestTable t = Numbers();
  std::string first = t.Ask("rand(7)");
  CHECK(first == t.Ask("rand(7)"));
  CHECK(first != t.Ask("rand(8)"));
  CHECK(first.substr(0, first.find('|')) != first.substr(first.rfind('|') + 1));
  CHECK(t.Ask("rand(n)") == t.Ask("rand(n)"));
}

TEST_CASE("wrong counts and arguments are one clear error", "[sql]") {
  TestTable t = Numbers();
  CHECK(t.Ask("sin(1,2)") == "error: table t: parse error: sin() called with 2 args, 1 args expected");
  CHECK(t.Ask("pow(1)") == "error: table t: parse error: pow() called with 1 args, 2 args expected");
  t.context().table_name.clear();
  CHECK(t.Ask("sin(1,2)") == "error: parse error: sin() called with 2 args, 1 args expected");
}

}  // namespace
}  // namespace stoa::sql
