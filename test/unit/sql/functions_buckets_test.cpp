#include <catch2/catch.hpp>

#include "sql/functions_fixture.h"

namespace stoa::sql {
namespace {

using test::TestTable;

TestTable Buckets() {
  TestTable table;
  table.AddInts("n", {0, 4, 5, 17, 103});
  table.AddFloats("f", {0.5F, 5.5F, 9.99F, -3, 10});
  table.AddInts("ts", {1704067200, 1704070800, 1704153600, 1706745600, 1735689600});
  return table;
}

TEST_CASE("a histogram bucket below zero is negative", "[sql]") {
  TestTable t = Buckets();
  CHECK(t.Ask("histogram(n, {hist_interval=10})") == "0|0|0|10|100");
  CHECK(t.Ask("histogram(n, {hist_interval=10, hist_offset=3})") == "-7|3|3|13|103");
  CHECK(t.Ask("histogram(f, {hist_interval=10})") == "0|0|0|-10|10");
  CHECK(t.Ask("histogram(f, {hist_interval=0.5})") == "0.500000|5.500000|9.500000|-3.000000|10.000000");
  CHECK(t.Ask("histogram(n, {hist_interval=0})") ==
        "error: table t: parse error: histogram() needs a hist_interval above 0");
  CHECK(t.Ask("histogram(n, {interval=1})") ==
        "error: table t: parse error: unknown option 'interval' of histogram()");
  CHECK(t.Ask("histogram(n, 10)").starts_with("error: table t: parse error: argument 2 of histogram()"));
}

TEST_CASE("ranges include their beginning and not their end; the rest comes last", "[sql]") {
  TestTable t = Buckets();
  CHECK(t.Ask("range(n, {range_to=5}, {range_from=5, range_to=20}, {range_from=20})") == "0|0|1|1|2");
  CHECK(t.Ask("range(f, {range_from=0, range_to=6}, {range_from=6, range_to=10})") == "0|0|1|2|2");
  CHECK(t.Ask("range(n, {range_to=4.5})") == "0|0|1|1|1");
  CHECK(t.Ask("range(n, {})").starts_with("error: "));
}

TEST_CASE("date histograms cut at the calendar or at a fixed length", "[sql]") {
  TestTable t = Buckets();
  CHECK(t.Ask("date_histogram(ts, {calendar_interval='month'})") ==
        "1704067200|1704067200|1704067200|1706745600|1735689600");
  CHECK(t.Ask("date_histogram(ts, {calendar_interval='year'})") ==
        "1704067200|1704067200|1704067200|1704067200|1735689600");
  CHECK(t.Ask("date_histogram(ts, {fixed_interval='2h'})") ==
        "1704067200|1704067200|1704153600|1706745600|1735689600");
  CHECK(t.Ask("date_histogram(1709210096, {calendar_interval='week'})").starts_with("1708905600|"));
  CHECK(t.Ask("date_histogram(ts, {fixed_interval='0s'})")
            .starts_with("error: table t: parse error: fixed_interval '0s'"));
  CHECK(t.Ask("date_histogram(ts, {calendar_interval='eon'})").starts_with("error: "));
}

TEST_CASE("date ranges take dates and date math", "[sql]") {
  TestTable t = Buckets();
  t.context().now_seconds = 1706745600 + 3600;
  CHECK(t.Ask("date_range(ts, {range_to='2024-01-02'}, {range_from='2024-01-02', range_to='2024-12-31'}, "
              "{range_from='2024-12-31'})") == "0|0|1|1|2");
  CHECK(t.Ask("date_range(ts, {range_from='now/d', range_to='now+1d/d'})") == "1|1|1|0|1");
  CHECK(t.Ask("date_range(ts, {range_from='someday'})") ==
        "error: table t: parse error: date_range() does not understand the date 'someday'");
}

}  // namespace
}  // namespace stoa::sql
