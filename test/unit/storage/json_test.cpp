#include "storage/json/json_value.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace stoa;           // NOLINT(google-build-using-namespace): test
using namespace stoa::storage;  // NOLINT(google-build-using-namespace): test

namespace {

std::string Stored(std::string_view text) {
  auto stored = EncodeJson(text);
  INFO(text << " " << stored.status().ToString());
  REQUIRE(stored.ok());
  return std::move(stored).value();
}

std::string Round(std::string_view text) { return JsonText(JsonView(Stored(text))); }

std::string ErrorOf(std::string_view text) { return EncodeJson(text).status().text(); }

JsonStep Name(std::string name) { return {std::move(name), {}}; }
JsonStep Index(uint64_t index) { return {"", index}; }

std::string Nested(int depth) {
  return std::string(static_cast<size_t>(depth), '[') + std::string(static_cast<size_t>(depth), ']');
}

}  // namespace

TEST_CASE("json prints compact, in document order, doubles with six decimals", "[storage]") {
  CHECK(Round(R"( { "w" : 1.5, "c" : [ "r", "s" ] } )") == R"({"w":1.500000,"c":["r","s"]})");
  CHECK(Round(R"({"z":1,"a":{"m":null,"t":true,"f":false},"e":[],"o":{}})") ==
        R"({"z":1,"a":{"m":null,"t":true,"f":false},"e":[],"o":{}})");
  CHECK(Round("[0.1,1e10,-2.25,0.000000125,3.0]") ==
        "[0.100000,10000000000.000000,-2.250000,0.000000125,3.000000]");
  CHECK(Round("[123456789100000.000000,0.30000000000000000000001]") == "[123456789100000.000000,0.300000]");
  CHECK(Round("[1e300,1e-20]") == "[1e+300,1e-20]");
  CHECK(Round(R"(["ä\u00e4\n\"\\\u0001/日本"])") == "[\"ää\\n\\\"\\\\\\u0001/日本\"]");
}

TEST_CASE("json integers are 64-bit, larger ones become doubles", "[storage]") {
  const std::string stored =
      Stored("[9223372036854775807,-9223372036854775808,9223372036854775808,123456789012345678901234567890]");
  const JsonView view(stored);
  CHECK(view.At(0).kind() == JsonKind::kInt);
  CHECK(view.At(0).AsInt() == std::numeric_limits<int64_t>::max());
  CHECK(view.At(1).AsInt() == std::numeric_limits<int64_t>::min());
  CHECK(view.At(2).kind() == JsonKind::kDouble);
  CHECK(view.At(2).AsDouble() == 9223372036854775808.0);
  CHECK(view.At(2).AsInt() == std::numeric_limits<int64_t>::max());
  CHECK(view.At(3).AsDouble() == 123456789012345678901234567890.0);
}

TEST_CASE("json paths are followed, absent steps give absent values", "[storage]") {
  const std::string stored = Stored(R"({"a":{"b":[1,{"c d":"x"}]},"n":null})");
  const JsonView view(stored);
  CHECK(Follow(view, {Name("a"), Name("b"), Index(1), Name("c d")}).AsString() == "x");
  CHECK_FALSE(Follow(view, {Name("a"), Name("b"), Index(2)}).exists());
  CHECK_FALSE(Follow(view, {Name("a"), Index(0)}).exists());
  CHECK_FALSE(Follow(view, {Name("n"), Name("x")}).exists());
  CHECK(Follow(view, {Name("n")}).exists());
  CHECK(Follow(view, {Name("n")}).is_null());
  CHECK(view.MemberName(1) == "n");
  CHECK(JsonText(JsonView(view.Member("a").bytes())) == R"({"b":[1,{"c d":"x"}]})");
}

TEST_CASE("json values convert to numbers", "[storage]") {
  const std::string stored = Stored(R"([true,"12"," 12","1.75",2.9,"x",-2.9])");
  const JsonView view(stored);
  CHECK(view.At(0).AsInt() == 1);
  CHECK(view.At(1).AsInt() == 12);
  CHECK(view.At(2).AsInt() == 0);
  CHECK(view.At(3).AsInt() == 1);
  CHECK(view.At(3).AsDouble() == 1.75);
  CHECK(view.At(4).AsInt() == 2);
  CHECK(view.At(5).AsDouble() == 0);
  CHECK(view.At(6).AsInt() == -2);
}

TEST_CASE("bad json says what and where", "[storage]") {
  for (const char* bad : {"",
                          "   ",
                          "{bad",
                          "[1,2",
                          "[1 2]",
                          "{\"a\":}",
                          "{\"a\" 1}",
                          "[1],",
                          "[1][2]",
                          "[tru]",
                          "[nul]",
                          "[01]",
                          "[1.]",
                          "[-]",
                          "[1e999]",
                          "[\"\\ud800\"]",
                          "[\"\\x\"]",
                          "[\"a]",
                          "{\"a\":1,}",
                          "[1,]",
                          "[\"a\x01\"]",
                          "[\"\xff\"]",
                          "{1:2}",
                          "[1}",
                          "]",
                          "[--1]",
                          "[1-2]",
                          "[12345678901234567890x]",
                          "[012345678901234567890]"}) {
    INFO(bad);
    const auto result = EncodeJson(bad);
    REQUIRE_FALSE(result.ok());
    CHECK(result.status().code() == StatusCode::kInvalid);
    CHECK(result.status().text().rfind("invalid JSON: ", 0) == 0);
  }
  CHECK(ErrorOf("5") == "invalid JSON: the value must be an object or an array, not '5'");
  CHECK(ErrorOf("\"x\"").find("must be an object or an array") != std::string::npos);
  CHECK(ErrorOf("[1,\"abc\",tru]") == "invalid JSON: syntax error near 'tru]' (byte 10)");
}

TEST_CASE("json nests 100 levels deep and no deeper", "[storage]") {
  CHECK(Round(Nested(100)) == Nested(100));
  CHECK(ErrorOf(Nested(101)).find("nested deeper than 100 levels") != std::string::npos);
  CHECK_FALSE(EncodeJson(Nested(5000)).ok());
}

TEST_CASE("json updates replace existing scalars of a fitting kind", "[storage]") {
  const std::string stored = Stored(R"({"i":5,"t":true,"s":"x","a":[1,2,3],"o":{"p":7.5}})");
  auto next = UpdateJsonNumber(stored, {Name("a"), Index(1)}, int64_t{22});
  REQUIRE(next.ok());
  next = UpdateJsonNumber(*next, {Name("o"), Name("p")}, int64_t{70});
  REQUIRE(next.ok());
  next = UpdateJsonNumber(*next, {Name("t")}, 0.5);
  REQUIRE(next.ok());
  next = UpdateJsonString(*next, {Name("s")}, "longer \"text\"");
  REQUIRE(next.ok());
  CHECK(JsonText(JsonView(*next)) ==
        R"({"i":5,"t":0.500000,"s":"longer \"text\"","a":[1,22,3],"o":{"p":70}})");
  for (const auto& path : std::vector<std::vector<JsonStep>>{{Name("nosuch")},
                                                             {Name("s")},
                                                             {Name("a")},
                                                             {Name("a"), Index(3)},
                                                             {Name("i"), Name("x")},
                                                             {Index(0)}}) {
    CHECK(UpdateJsonNumber(stored, path, int64_t{1}).status().code() == StatusCode::kNotFound);
  }
  CHECK(UpdateJsonString(stored, {Name("i")}, "x").status().code() == StatusCode::kNotFound);
  CHECK(UpdateJsonNumber("", {Name("i")}, int64_t{1}).status().code() == StatusCode::kNotFound);
}

TEST_CASE("damaged stored json reads as absent", "[storage]") {
  const std::string stored = Stored(R"({"a":[1,2.5,"xyz"],"b":{"c":null}})");
  for (size_t length = 0; length < stored.size(); ++length) {
    (void)JsonText(JsonView(stored.substr(0, length)));
  }
  for (size_t i = 0; i < stored.size(); ++i) {
    for (const char damage : {'\x00', '\x07', '\x7f', '\xff'}) {
      std::string bytes = stored;
      bytes[i] = damage;
      (void)JsonText(JsonView(bytes));
      (void)UpdateJsonNumber(bytes, {Name("a"), Index(0)}, int64_t{1});
    }
  }
  CHECK_FALSE(JsonView("\x09").exists());
  CHECK_FALSE(JsonView(std::string_view("\x06\xff\xff\xff\xff", 5)).exists());
}
