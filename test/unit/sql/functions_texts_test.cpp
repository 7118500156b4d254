#include <catch2/catch.hpp>

#include <sstream>

#include "sql/functions_fixture.h"

namespace stoa::sql {
namespace {

using test::TestTable;

TestTable Texts() {
  TestTable table;
  table.AddStrings("s", {"Red Fox", "", "ЁЖИК größe"});
  table.AddStrings("t2", {"a.b.c", "", "one"});
  table.AddInts("n", {7, 0, 42});
  return table;
}

TEST_CASE("upper and lower map the letters of all scripts", "[sql]") {
  TestTable t = Texts();
  CHECK(t.Ask("upper(s)") == "RED FOX||ЁЖИК GRÖSSE");
  CHECK(t.Ask("lower(s)") == "red fox||ёжик größe");
}

TEST_CASE("concat joins texts only", "[sql]") {
  TestTable t = Texts();
  CHECK(t.Ask("concat(s, '-', t2)") == "Red Fox-a.b.c|-|ЁЖИК größe-one");
  CHECK(t.Ask("concat(s, ':', to_string(n))") == "Red Fox:7|:0|ЁЖИК größe:42");
  CHECK(t.Ask("concat(n, s)") ==
        "error: table t: parse error: all CONCAT() arguments must be strings (arg 1 is not)");
  CHECK(t.Ask("concat_ws('/', t2, NULL, n)") == "a.b.c/7|/0|one/42");
}

TEST_CASE("parts of texts are counted in characters", "[sql]") {
  TestTable t = Texts();
  CHECK(t.Ask("substring(s, 6)") == "ox||größe");
  CHECK(t.Ask("substring(s, 2, 3)") == "ed ||ЖИК");
  CHECK(t.Ask("substr(s, -3, 2)") == "Fo||öß");
  CHECK(t.Ask("left(s, 4)") == "Red ||ЁЖИК");
  CHECK(t.Ask("right(s, 2)") == "ox||ße");
  CHECK(t.Ask("reverse(s)") == "xoF deR||eßörg КИЖЁ");
  CHECK(t.Ask("locate('o', s)") == "6|0|0");
  CHECK(t.Ask("instr(s, 'größe')") == "0|0|6");
  CHECK(t.Ask("locate('', s, 1)") == "1|1|1");
}

TEST_CASE("texts are cut at delimiters, trimmed, replaced and padded", "[sql]") {
  TestTable t = Texts();
  CHECK(t.Ask("substring_index(t2, '.', 1)") == "a||one");
  CHECK(t.Ask("substring_index(t2, '.', 2)") == "a.b||one");
  CHECK(t.Ask("substring_index(t2, '.', -1)") == "c||one");
  CHECK(t.Ask("substring_index(t2, '.', -2)") == "b.c||one");
  CHECK(t.Ask("substring_index(t2, '.', -9)") == "a.b.c||one");
  CHECK(t.Ask("substring_index(t2, '', 1)") == "||");
  CHECK(t.Ask("concat('<', trim('  x  '), '>', ltrim('  y '), '>', rtrim(' z '), '>')")
            .starts_with("<x>y > z>|"));
  CHECK(t.Ask("replace(t2, '.', '--')") == "a--b--c||one");
  CHECK(t.Ask("lpad(t2, 7, 'xy')") == "xya.b.c|xyxyxyx|xyxyone");
  CHECK(t.Ask("rpad(t2, 2, 'xy')") == "a.|xy|on");
  CHECK(t.Ask("repeat(t2, 2)") == "a.b.ca.b.c||oneone");
  CHECK(t.Ask("repeat('abc', 1000000000)") == "NULL|NULL|NULL");
}

TEST_CASE("regex and levenshtein compare texts", "[sql]") {
  TestTable t = Texts();
  CHECK(t.Ask("regex(s, 'fox')") == "0|0|0");
  CHECK(t.Ask("regex(s, '(?i)fox')") == "1|0|0");
  CHECK(t.Ask("regex(s, '^$')") == "0|1|0");
  CHECK(t.Ask("regex(s, '(')").starts_with("error: table t: parse error: regex() cannot use '('"));
  CHECK(t.Ask("levenshtein(s, 'Red Box')") == "1|7|9");
  CHECK(t.Ask("levenshtein('kitten', 'sitting')") == "3|3|3");
  CHECK(t.Ask("levenshtein('kitten', 'sitting', {normalize=1})").starts_with("0.428571428571429|"));
  CHECK(t.Ask("levenshtein('kit', 'sitting', {length_delta=2})") == "7|7|7");
  CHECK(t.Ask("levenshtein('', '')") == "0|0|0");
}

TEST_CASE("hashes are those of other programs", "[sql]") {
  TestTable t;
  CHECK(t.Ask("crc32('123456789')") == "3421780262");
  CHECK(t.Ask("md5('')") == "d41d8cd98f00b204e9800998ecf8427e");
  CHECK(t.Ask("md5('The quick brown fox jumps over the lazy dog')") == "9e107d9d372bb6826bd81d3542a419d6");
  CHECK(t.Ask("sha1('abc')") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(t.Ask("md5(repeat('a', 64))") == "014842d480b571495a4a0363793f7367");
  CHECK(t.Ask("hex('az')") == "617A");
  CHECK(t.Ask("hex(255)") == "FF");
}

TEST_CASE("a session tells its own data", "[sql]") {
  TestTable t;
  t.context().connection_id = 12;
  t.context().last_insert_id = "5,6";
  t.context().version = "1.0";
  t.context().uuid_short_seed = 100;
  CHECK(t.Ask("connection_id()") == "12");
  CHECK(t.Ask("database()") == "Manticore");
  CHECK(t.Ask("last_insert_id()") == "5,6");
  CHECK(t.Ask("version()") == "1.0");
  CHECK(t.Ask("uuid_short()") == "100");
}

TestTable Places() {
  TestTable t;
  t.AddFloats("lat", {52.52F, 48.8566F, 0});
  t.AddFloats("lon", {13.405F, 2.3522F, 0});
  t.AddFloats("x", {1, 5, -1});
  t.AddFloats("y", {1, 5, 3});
  return t;
}

TEST_CASE("distances on the globe have the asked unit and are never NaN", "[sql]") {
  TestTable t = Places();
  auto distances = [&t](const std::string& expression) {
    std::istringstream answer(t.Ask(expression));
    std::vector<double> values;
    for (std::string cell; std::getline(answer, cell, '|');) {
      values.push_back(std::stod(cell));
    }
    REQUIRE_FALSE(values.empty());
    return values;
  };
  auto metres = distances("geodist(lat, lon, 52.52, 13.405, {in=deg, out=m})");
  CHECK(metres.at(0) == Approx(0).margin(0.2));
  CHECK(metres.at(1) == Approx(881014).margin(10));
  CHECK(metres.at(2) == Approx(5971970).margin(60));
  auto miles = distances("geodist(lat, lon, 52.52, 13.405, {in=deg, out=mi, method=haversine})");
  CHECK(miles.at(1) == Approx(546.344).margin(0.01));
  CHECK(miles.at(2) == Approx(3718.41).margin(0.02));
  CHECK(distances("geodist(0.9, 0.2, 0.85, 0.04, {out=km})").at(0) == Approx(728.808).margin(0.01));
  CHECK(distances("geodist(lat, lon, lat, lon, {in=deg})").at(1) == 0);
  CHECK(distances("geodist(lat, lon, lat, lon, {in=deg,method=haversine})").at(1) == 0);
  CHECK(distances("geodist(0, 179.9, 0, -179.9, {in=deg, out=km})").at(0) == Approx(22.26).margin(0.05));
  CHECK(distances("geodist(90, 0, 90, 120, {in=deg})").at(0) == Approx(0).margin(0.001));
  CHECK(t.Ask("geodist(1,2,3)").starts_with("error: table t: parse error: geodist() called with 3 args"));
  CHECK(t.Ask("geodist(1,2,3,4,{in=grad})").starts_with("error: "));
}

TEST_CASE("polygons contain what lies inside, on the globe across the date line too", "[sql]") {
  TestTable t = Places();
  CHECK(t.Ask("contains(poly2d(0,0,0,4,4,4,4,0), x, y)") == "1|0|0");
  CHECK(t.Ask("contains(geopoly2d(50,10,50,15,55,15,55,10), lat, lon)") == "1|0|0");
  CHECK(t.Ask("contains(geopoly2d(-10,170,-10,-170,10,-170,10,170), 0, -179)") == "1|1|1");
  CHECK(t.Ask("contains(geopoly2d(-10,170,-10,-170,10,-170,10,170), 0, 179)") == "1|1|1");
  CHECK(t.Ask("contains(geopoly2d(-10,170,-10,-170,10,-170,10,170), 0, 0)") == "0|0|0");
  CHECK(t.Ask("contains(poly2d('0,0,0,4,4,4,4,0'), x, y)") == "1|0|0");
  CHECK(t.Ask("contains(poly2d(x,0,0,4,4,4,4,0), 1, 1)") == "1|0|1");
  CHECK(t.Ask("poly2d(1,2)") ==
        "error: table t: parse error: poly2d() needs an even number of coordinates, at least 6, not 2");
  CHECK(t.Ask("contains(x, 1, 1)").starts_with("error: "));
}

}  // namespace
}  // namespace stoa::sql
