#include <catch2/catch.hpp>

#include "sql/expr/functions/date_math.h"
#include "sql/functions_fixture.h"

namespace stoa::sql {
namespace {

using test::TestTable;

TestTable Dates() {
  TestTable table;
  table.AddInts("ts", {1709210096, 0, 1735689599, 1704067200});
  table.AddBigints("b", {1709210096, 0, 4102444800, 951782400});
  return table;
}

TEST_CASE("parts of a date are those of the calendar", "[sql]") {
  TestTable t = Dates();
  CHECK(t.Ask("yearmonthday(ts)") == "20240229|19700101|20241231|20240101");
  CHECK(t.Ask("hour(ts)*10000+minute(ts)*100+second(ts)") == "123456|0|235959|0");
  CHECK(t.Ask("dayofweek(ts)") == "5|5|3|2");
  CHECK(t.Ask("dayofyear(ts)") == "60|1|366|1");
  CHECK(t.Ask("quarter(ts)") == "1|1|4|1");
  CHECK(t.Ask("week(ts, 1)") == "9|1|53|1");
  CHECK(t.Ask("yearweek(ts)") == "2024056|1969362|2024364|2023365");
  CHECK(t.Ask("yearmonthday(b)") == "20240229|19700101|21000101|20000229");
  CHECK(t.Ask("year('2026-04-20 07:05:00')") == "2026|2026|2026|2026");
  CHECK(t.Ask("year('soon')") == "NULL|NULL|NULL|NULL");
  CHECK(t.Ask("year(9223372036854775807)") == "9999|9999|9999|9999");
}

// 2024-01-01 is a Monday, 2023-01-01 a Sunday, 2021-01-01 a Friday.
TEST_CASE("week modes follow MySQL's table", "[sql]") {
  TestTable t;
  auto weeks = [&t](const std::string& date) {
    std::string all;
    for (int mode = 0; mode < 8; ++mode) {
      all += t.Ask("week('" + date + "', " + std::to_string(mode) + ")") + " ";
    }
    return all;
  };
  CHECK(weeks("2024-01-01") == "0 1 53 1 1 1 1 1 ");
  CHECK(weeks("2023-01-01") == "1 0 1 52 1 0 1 52 ");
  CHECK(weeks("2021-01-01") == "0 0 52 53 0 0 53 52 ");
  CHECK(t.Ask("week(0, 8)").starts_with("error: "));
}

TEST_CASE("dates follow the zone of the session across a clock change", "[sql]") {
  TestTable t;
  t.AddBigints("ts", {0, 951782400, 1711846800, 4102444800});
  t.context().timezone = "Europe/Kyiv";
  CHECK(t.Ask("date_format(ts,'%Y-%m-%d %H:%M:%S')") ==
        "1970-01-01 03:00:00|2000-02-29 02:00:00|2024-03-31 04:00:00|2100-01-01 02:00:00");
  CHECK(t.Ask("date_format(ts-1,'%H:%M:%S %z')") ==
        "02:59:59 +0300|01:59:59 +0200|02:59:59 +0200|01:59:59 +0200");
  CHECK(t.Ask("date_histogram(ts,{calendar_interval='month'})") == "-10800|949356000|1709244000|4102437600");
  t.context().timezone = "America/New_York";
  CHECK(t.Ask("date_format(ts,'%F %T')") ==
        "1969-12-31 19:00:00|2000-02-28 19:00:00|2024-03-30 21:00:00|2099-12-31 19:00:00");
  CHECK(t.Ask("year(ts)") == "1969|2000|2024|2099");
  CHECK(t.Ask("unix_timestamp('2024-07-01 00:00:00')") == "1719806400|1719806400|1719806400|1719806400");
  t.context().timezone = "Mars/Olympus";
  CHECK(t.Ask("year(ts)") == "error: table t: parse error: unknown time zone: 'Mars/Olympus'");
}

// New York set its clocks back on 2024-11-03 at 06:00 UTC.
TEST_CASE("the hour that a clock change repeats is two buckets", "[sql]") {
  TestTable t;
  t.AddBigints("ts", {1730611800, 1730615400, 1730619000});
  t.context().timezone = "America/New_York";
  CHECK(t.Ask("date_format(ts,'%H:%M')") == "01:30|01:30|02:30");
  CHECK(t.Ask("date_histogram(ts,{calendar_interval='hour'})") == "1730610000|1730613600|1730617200");
  CHECK(t.Ask("date_histogram(ts,{calendar_interval='day'})") == "1730606400|1730606400|1730606400");
}

TEST_CASE("dates as text use the letters of strftime", "[sql]") {
  TestTable t = Dates();
  CHECK(t.Ask("date_format(ts,'%a %A %d %b %y, %j %u %I %p')") ==
        "Thu Thursday 29 Feb 24, 060 4 12 PM|Thu Thursday 01 Jan 70, 001 4 12 AM|"
        "Tue Tuesday 31 Dec 24, 366 2 11 PM|Mon Monday 01 Jan 24, 001 1 12 AM");
  CHECK(t.Ask("date_format(0,'%')") == "%|%|%|%");
  CHECK(t.Ask("date_format(0,'%%%Q%c')") == [] {
    std::string one = "%%QThu Jan  1 00:00:00 1970";
    return one + "|" + one + "|" + one + "|" + one;
  }());
  CHECK(t.Ask("concat(dayname(ts), monthname(ts))") ==
        "ThursdayFebruary|ThursdayJanuary|TuesdayDecember|MondayJanuary");
  CHECK(t.Ask("concat(date(ts), ' ', time(ts))") ==
        "2024-02-29 12:34:56|1970-01-01 00:00:00|2024-12-31 23:59:59|2024-01-01 00:00:00");
  CHECK(t.Ask("from_unixtime(86399)") ==
        "1970-01-01 23:59:59|1970-01-01 23:59:59|1970-01-01 23:59:59|1970-01-01 23:59:59");
}

TEST_CASE("date arithmetic keeps the day of the month inside the month", "[sql]") {
  TestTable t;
  CHECK(t.Ask("date(date_add('2024-01-31', interval 1 month))") == "2024-02-29");
  CHECK(t.Ask("date(date_sub('2024-02-29', interval 1 year))") == "2023-02-28");
  CHECK(t.Ask("date_add(10, interval 2 hour)") == "7210");
  CHECK(t.Ask("date(date_add('2023-11-30', interval 1 quarter))") == "2024-02-29");
  CHECK(t.Ask("date(date_add(0, interval 9223372036854775807 year))") == "9999-12-31");
  CHECK(t.Ask("datediff('2024-03-01', '2024-02-28 23:59:59')") == "2");
  CHECK(t.Ask("timediff(90061, 0)") == "25:01:01");
  CHECK(t.Ask("timediff(0, 61)") == "-00:01:01");
  CHECK(t.Ask("date_add(0, interval 1 fortnight)").starts_with("error: "));
  t.context().timezone = "America/New_York";
  CHECK(t.Ask("from_unixtime(date_add('2024-11-02 12:00:00', interval 1 day))") == "2024-11-03 12:00:00");
}

TEST_CASE("date math steps and rounds from now or from a date", "[sql]") {
  ZoneClock clock{Zone()};
  constexpr int64_t kNow = 1709210096;  // 2024-02-29 12:34:56
  CHECK(ParseDateMath("now", kNow, clock) == kNow);
  CHECK(ParseDateMath("now-2d/d", kNow, clock) == 1708992000);
  CHECK(ParseDateMath("now/M", kNow, clock) == 1706745600);
  CHECK(ParseDateMath("2026-04-20||+2M/d", kNow, clock) == 1781913600);
  CHECK(ParseDateMath("2024-02-29T12:34:56Z", kNow, clock) == kNow);
  CHECK(ParseDateMath("2024-02-29T14:34:56.5+02:00", kNow, clock) == kNow);
  CHECK(ParseDateMath("2024", kNow, clock) == 1704067200);
  CHECK(ParseDateMath("1704067200", kNow, clock) == 1704067200);
  for (const char* text : {"", "now+", "now/", "now-5", "2023-02-29", "2024-13-01", "2024-01-01||x",
                           "2024-01-01 25:00", "tomorrow", "-", "20", "2024-01-01x", "now-9999999999999d"}) {
    INFO(text);
    CHECK_FALSE(ParseDateMath(text, kNow, clock).has_value());
  }
}

TEST_CASE("clock functions tell the time of the statement", "[sql]") {
  TestTable t;
  t.context().now_seconds = 1709210096;
  t.context().timezone = "Europe/Berlin";
  CHECK(t.Ask("now()") == "1709210096");
  CHECK(t.Ask("curtime()") == "13:34:56");
  CHECK(t.Ask("curdate()") == "2024-02-29");
  CHECK(t.Ask("utc_time()") == "12:34:56");
  CHECK(t.Ask("utc_timestamp()") == "2024-02-29 12:34:56");
  CHECK(t.Ask("unix_timestamp()") == "1709210096");
}

}  // namespace
}  // namespace stoa::sql
