#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoa::sql {

struct PolygonPoint {
  double x = 0;
  double y = 0;
};

// A closed polygon of the plane, the last corner joined to the first; immutable, safe to share. Inside is
// what a ray crosses an odd number of edges from.
class Polygon {
 public:
  explicit Polygon(std::vector<PolygonPoint> corners);
  // Corners as latitude and longitude in degrees, joined by great circles. Points are asked for in degrees,
  // too; a polygon may cross the date line.
  static Polygon OnGlobe(const std::vector<PolygonPoint>& corners);

  bool Contains(double x, double y) const;
  std::string Text() const;  // "x1,y1,x2,y2,…"

 private:
  bool ContainsFlat(double x, double y) const;

  std::vector<PolygonPoint> corners_;
  PolygonPoint low_;
  PolygonPoint high_;
  bool globe_ = false;
};

// Corners from "x1,y1,x2,y2,…": an even count of numbers, three corners or more; else nothing.
std::optional<std::vector<PolygonPoint>> ParseCorners(std::string_view text);

}  // namespace stoa::sql
