#include "sql/value.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "sql/expr/vector.h"

using namespace stoa::sql;  // NOLINT(google-build-using-namespace): test

namespace {

std::string FloatText(float value) {
  std::string out;
  AppendFloatText(value, out);
  return out;
}

std::string DoubleText(double value) {
  std::string out;
  AppendDoubleText(value, out);
  return out;
}

template <typename Item>
std::string Bytes(std::initializer_list<Item> items) {
  std::string bytes(items.size() * sizeof(Item), '\0');
  std::memcpy(bytes.data(), items.begin(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("float text has six decimals, more only when six do not keep the value", "[sql]") {
  CHECK(FloatText(0) == "0.000000");
  CHECK(FloatText(19.45f) == "19.450001");
  CHECK(FloatText(1e10f) == "10000000000.000000");
  CHECK(FloatText(1.5e-5f) == "0.000015");
  CHECK(FloatText(123456.789f) == "123456.789062");
  CHECK(FloatText(0.333333333f) == "0.33333334");
  CHECK(FloatText(-1.5e-10f) == "-0.00000000015");
  CHECK(FloatText(std::numeric_limits<float>::quiet_NaN()) == "nan");
  CHECK(FloatText(-std::numeric_limits<float>::infinity()) == "-inf");
}

TEST_CASE("float text comes back as the same float", "[sql]") {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t bits = static_cast<uint32_t>(random());
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (std::isfinite(value)) {
      CHECK(std::strtof(FloatText(value).c_str(), nullptr) == value);
    }
  }
}

TEST_CASE("double text has at least six decimals and at most 15 digits", "[sql]") {
  CHECK(DoubleText(0) == "0.000000");
  CHECK(DoubleText(3) == "3.000000");
  CHECK(DoubleText(0.1 + 0.2) == "0.300000");
  CHECK(DoubleText(1.0 / 3) == "0.333333333333333");
  CHECK(DoubleText(-2.0 / 3) == "-0.666666666666667");
  CHECK(DoubleText(246913.578125) == "246913.578125");
  CHECK(DoubleText(123456789.123456789) == "123456789.123457");
  CHECK(DoubleText(999999999999999.9) == "1000000000000000.000000");
  CHECK(DoubleText(1e-7) == "0.0000001");
  CHECK(DoubleText(1.25e20) == "125000000000000000000.000000");
  CHECK(DoubleText(1e22) == "1e+22");
  CHECK(DoubleText(-1.5e300) == "-1.5e+300");
  CHECK(DoubleText(1e-30) == "0.000000000000000000000000000001");
  CHECK(DoubleText(1e-31) == "1e-31");
  CHECK(DoubleText(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("sets and vectors print as comma lists", "[sql]") {
  std::string out;
  AppendMultiText(Bytes<uint32_t>({1, 4294967295}), out);
  CHECK(out == "1,4294967295");
  out.clear();
  AppendMulti64Text(Bytes<int64_t>({-7, 5}), out);
  CHECK(out == "-7,5");
  out.clear();
  AppendVectorText(Bytes<float>({0.1f, -2}), out);
  CHECK(out == "0.100000,-2.000000");
  out.clear();
  AppendVectorArrayText(Bytes<uint32_t>({2}) + Bytes<float>({0, 1, 2, 3}), out);
  CHECK(out == "[[0.000000,1.000000],[2.000000,3.000000]]");
  out.clear();
  AppendVectorArrayText({}, out);
  CHECK(out == "[]");
}

TEST_CASE("a vector remembers nulls and gives values with their own bytes", "[sql]") {
  Vector vector;
  vector.Reset(ValueType::kString, 2);
  CHECK_FALSE(vector.has_nulls());
  vector.texts()[0] = vector.Own("kept");
  vector.SetNull(1);
  CHECK(vector.At(0).bytes == "kept");
  CHECK(vector.At(1).is_null());
  vector.Reset(ValueType::kNull, 3);
  CHECK(vector.IsNull(2));
}
