#include <cmath>
#include <numbers>

#include "sql/expr/functions/function.h"
#include "sql/expr/functions/options.h"

// geodist(): distances on the globe.
namespace stoa::sql {
namespace {

constexpr double kDegree = std::numbers::pi / 180;
// The two methods differ in their mean radius; answers of either are compared with those of other systems.
constexpr double kHaversineRadius = 6384000;
constexpr double kAdaptiveRadius = 6371000;
// Below this difference of longitudes the globe is taken as a flat ellipsoid.
constexpr double kFlatDegrees = 13;

// Great-circle distance on a sphere; everything in radians.
double Haversine(double lat1, double lon1, double lat2, double lon2, double radius) {
  double u = std::sin((lat2 - lat1) / 2);
  double v = std::sin((lon2 - lon1) / 2);
  double chord = u * u + std::cos(lat1) * std::cos(lat2) * v * v;
  return 2 * radius * std::asin(std::sqrt(std::fmin(chord, 1)));
}

// Metres of a degree of latitude and longitude at the latitude halfway (47 CFR 73.208).
double FlatEllipsoid(double middle, double lat_degrees, double lon_degrees) {
  double c1 = std::cos(middle);
  double c2 = 2 * c1 * c1 - 1;
  double c3 = 2 * c1 * c2 - c1;
  double c4 = 2 * c2 * c2 - 1;
  double c5 = 2 * c1 * c4 - c3;
  double north = 111132.09 - 566.05 * c2 + 1.20 * c4;
  double east = 111415.13 * c1 - 94.55 * c3 + 0.12 * c5;
  return std::hypot(north * lat_degrees, east * lon_degrees);
}

double Adaptive(double lat1, double lon1, double lat2, double lon2) {
  double lon_degrees = std::fabs(std::remainder((lon2 - lon1) / kDegree, 360.0));
  if (lon_degrees >= kFlatDegrees) {
    return Haversine(lat1, lon1, lat2, lon2, kAdaptiveRadius);
  }
  return FlatEllipsoid((lat1 + lat2) / 2, (lat2 - lat1) / kDegree, lon_degrees);
}

struct GeoSettings {
  double to_radians = 1;
  double per_metre = 1;
  bool haversine = false;
};

// Metres of a unit; 0 when there is no such unit.
double MetresOf(std::string_view unit) {
  struct Unit {
    std::string_view short_name;
    std::string_view long_name;
    double metres;
  };
  constexpr Unit kUnits[] = {
      {"m", "meters", 1},
      {"km", "kilometers", 1000},
      {"mi", "miles", 1609.344},
      {"ft", "feet", 0.3048},
      {"yd", "yards", 0.9144},
      {"in", "inch", 0.0254},
      {"cm", "centimeters", .01},
      {"mm", "millimeters", .001},
      {"nmi", "nauticalmiles", 1852},
      {"meter", "metre", 1},
      {"kilometer", "kilometre", 1000},
      {"metres", "metres", 1},
      {"mile", "mile", 1609.344},
      {"kilometres", "kilometres", 1000},
      {"yard", "yard", 0.9144},
  };
  for (const Unit& entry : kUnits) {
    if (unit == entry.short_name || unit == entry.long_name) {
      return entry.metres;
    }
  }
  return 0;
}

Result<GeoSettings> ReadSettings(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(FunctionOptions options,
                   FunctionOptions::ReadOptional(call, 4, {"in", "out", "method"}, scope));
  GeoSettings settings;
  std::string in = options.Text("in").value_or("rad");
  std::string out = options.Text("out").value_or("m");
  std::string method = options.Text("method").value_or("adaptive");
  if (in == "deg" || in == "degrees") {
    settings.to_radians = kDegree;
  } else if (in != "rad" && in != "radians") {
    return FunctionError(scope, fmt::format("geodist() knows in=deg and in=rad, not '{}'", in));
  }
  double metres = MetresOf(out);
  if (metres == 0) {
    return FunctionError(
        scope, fmt::format("geodist() knows out=m, km, mi, ft, yd, in, cm, mm, nmi, not '{}'", out));
  }
  settings.per_metre = 1 / metres;
  settings.haversine = method == "haversine";
  if (!settings.haversine && method != "adaptive") {
    return FunctionError(scope,
                         fmt::format("geodist() knows method=adaptive and haversine, not '{}'", method));
  }
  return settings;
}

Result<SharedExpr> BindGeodist(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindReals(call, scope, 4));
  ASSIGN_OR_RETURN(GeoSettings settings, ReadSettings(call, scope));
  return MakeKernel(ValueType::kDouble, std::move(args), [settings](const KernelInputs& in, Vector& out) {
    double unit = settings.to_radians;
    for (size_t row = 0; row < out.size(); ++row) {
      double lat1 = in[0].reals()[row] * unit;
      double lon1 = in[1].reals()[row] * unit;
      double lat2 = in[2].reals()[row] * unit;
      double lon2 = in[3].reals()[row] * unit;
      double metres = settings.haversine ? Haversine(lat1, lon1, lat2, lon2, kHaversineRadius)
                                         : Adaptive(lat1, lon1, lat2, lon2);
      out.reals()[row] = FiniteOrZero(metres * settings.per_metre);
    }
  });
}

constexpr FunctionEntry kFunctions[] = {
    {"geodist", 4, 5, BindGeodist},
};

}  // namespace

std::span<const FunctionEntry> GeoFunctions() { return kFunctions; }

}  // namespace stoa::sql
