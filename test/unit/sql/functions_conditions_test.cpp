#include <catch2/catch.hpp>

#include "sql/functions_fixture.h"

namespace stoa::sql {
namespace {

using test::TestTable;

TestTable Conditions() {
  TestTable table;
  table.AddInts("n", {5, 15, 25});
  table.AddFloats("f", {0.5F, 1.5F, -2});
  table.AddStrings("s", {"a", "b", "c"});
  table.AddJson("j", {R"({"k":3,"a":[3,1,2],"o":[{"p":10,"q":"x"},{"p":20,"q":"y"}],"s":["u","v"]})",
                      R"({"k":30,"a":[],"s":[]})", "{}"});
  table.AddSets("m", {{1, 5, 9}, {}, {7}});
  return table;
}

TEST_CASE("in() finds numbers, texts by collation, JSON by its type and any item of a set", "[sql]") {
  TestTable t = Conditions();
  CHECK(t.Ask("in(n, 5, 25)") == "1|0|1");
  CHECK(t.Ask("in(f, 0.5, 1.6)") == "1|0|0");
  CHECK(t.Ask("in(s, 'A', 'z')") == "1|0|0");
  CHECK(t.Ask("in(j.k, 3, 4)") == "1|0|0");
  CHECK(t.Ask("in(j.a, 2)") == "1|0|0");
  CHECK(t.Ask("in(j.s, 'v')") == "1|0|0");
  CHECK(t.Ask("in(m, 9, 7)") == "1|0|1");
  Value list;
  list.type = ValueType::kMulti64;
  int64_t items[] = {15, 25};
  list.bytes.assign(reinterpret_cast<const char*>(items), sizeof(items));
  t.SetVariable("list", list);
  CHECK(t.Ask("in(n, @list)") == "0|1|1");
  CHECK(t.Ask("in(n, @other)").starts_with("error: table t: parse error: undefined user variable"));
  CHECK(t.Ask("in(n, 'x')") == "error: table t: parse error: in() does not compare numbers with strings");
}

TEST_CASE("interval() counts the points passed", "[sql]") {
  TestTable t = Conditions();
  CHECK(t.Ask("interval(n, 10, 20)") == "0|1|2");
  CHECK(t.Ask("interval(n, 5, 15, 25)") == "1|2|3");
  CHECK(t.Ask("interval(j.k, 10, 20)") == "0|2|NULL");
}

TEST_CASE("remap() replaces the values it has keys for", "[sql]") {
  TestTable t = Conditions();
  CHECK(t.Ask("remap(n, n*2, (5, 25), (1, 0))") == "1|30|0");
  CHECK(t.Ask("remap(n, n, (5), (0.5))") == "0.500000|15.000000|25.000000");
  CHECK(t.Ask("remap(f, n, (1.5), (7))") == "5|7|25");
  CHECK(t.Ask("remap(n, n, (1), (2,3))") ==
        "error: table t: parse error: remap() has 1 keys and 2 values, both lists need the same length");
}

TEST_CASE("exist() is the column or the default", "[sql]") {
  TestTable t = Conditions();
  CHECK(t.Ask("exist('n', 99)") == "5|15|25");
  CHECK(t.Ask("exist('nosuch', 99)") == "99|99|99");
  CHECK(t.Ask("exist('f', 1.5)") == "0.500000|1.500000|-2.000000");
  CHECK(t.Ask("exist('s', 1)").starts_with("error: "));
}

TEST_CASE("loops ask every item of an array and see the row's other columns", "[sql]") {
  TestTable t = Conditions();
  CHECK(t.Ask("any(x > 2 FOR x IN j.a)") == "1|0|0");
  CHECK(t.Ask("all(x > 0 FOR x IN j.a)") == "1|0|0");
  CHECK(t.Ask("indexof(x = 2 FOR x IN j.a)") == "2|-1|-1");
  CHECK(t.Ask("indexof(x > 5 FOR x IN j.a)") == "-1|-1|-1");
  CHECK(t.Ask("any(x.p > 15 FOR x IN j.o)") == "1|0|0");
  CHECK(t.Ask("any(x.q = 'x' FOR x IN j.o)") == "1|0|0");
  CHECK(t.Ask("any(x.p > 15 AND x.q = 'x' FOR x IN j.o)") == "0|0|0");
  CHECK(t.Ask("any(x = 'v' FOR x IN j.s)") == "1|0|0");
  CHECK(t.Ask("any(x > n FOR x IN m)") == "1|0|0");
  CHECK(t.Ask("all(x > 0 FOR x IN m)") == "1|0|1");
  CHECK(t.Ask("any(any(y = x FOR y IN j.a) FOR x IN m)") == "1|0|0");
  CHECK(t.Ask("any(x > 1 FOR x IN n)").starts_with("error: "));
}

TEST_CASE("loops over more items than a batch holds keep their rows apart", "[sql]") {
  TestTable t;
  std::string longest = "[0";
  for (int i = 1; i < 3000; ++i) {
    longest += "," + std::to_string(i);
  }
  t.AddJson("j", {longest + "]", "[2500]"});
  CHECK(t.Ask("indexof(x = 2500 FOR x IN j)") == "2500|0");
  CHECK(t.Ask("all(x < 2999 FOR x IN j)") == "0|1");
}

TEST_CASE("length() counts items, members, numbers and bytes", "[sql]") {
  TestTable t = Conditions();
  CHECK(t.Ask("length(m)") == "3|0|1");
  CHECK(t.Ask("length(j.a)") == "3|0|0");
  CHECK(t.Ask("length(j)") == "4|3|0");
  CHECK(t.Ask("length('größe')") == "7|7|7");
  CHECK(t.Ask("char_length('größe')") == "5|5|5");
}

TEST_CASE("greatest() and least() of an array are the text of an item", "[sql]") {
  TestTable t = Conditions();
  CHECK(t.Ask("greatest(m)") == "9|NULL|7");
  CHECK(t.Ask("least(j.a)") == "1|NULL|NULL");
  CHECK(t.Ask("greatest(j.s)") == "v|NULL|NULL");
}

}  // namespace
}  // namespace stoa::sql
