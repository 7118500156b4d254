#include "sql/expr/functions/polygon.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "sql/value.h"

namespace stoa::sql {
namespace {

constexpr double kDegree = std::numbers::pi / 180;
constexpr double kStepDegrees = 0.5;  // longest piece of a great circle that is taken as straight
constexpr double kMostSteps = 360;

struct Direction {
  double x, y, z;
};

Direction DirectionOf(PolygonPoint corner) {
  double lat = corner.x * kDegree;
  double lon = corner.y * kDegree;
  return {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)};
}

// Appends the inner points of the great circle from `from` to `to`. Longitudes continue those before them.
void AppendArc(PolygonPoint from, PolygonPoint to, std::vector<PolygonPoint>& out) {
  Direction a = DirectionOf(from);
  Direction b = DirectionOf(to);
  double angle = std::acos(std::clamp(a.x * b.x + a.y * b.y + a.z * b.z, -1.0, 1.0));
  double steps = std::min(std::ceil(angle / kDegree / kStepDegrees), kMostSteps);
  if (!(steps > 1) || std::sin(angle) < 1e-9) {
    return;
  }
  for (double step = 1; step < steps; ++step) {
    double share_b = std::sin(angle * step / steps) / std::sin(angle);
    double share_a = std::sin(angle * (steps - step) / steps) / std::sin(angle);
    Direction d{share_a * a.x + share_b * b.x, share_a * a.y + share_b * b.y, share_a * a.z + share_b * b.z};
    double lat = std::atan2(d.z, std::hypot(d.x, d.y)) / kDegree;
    double lon = std::atan2(d.y, d.x) / kDegree;
    out.push_back({lat, out.back().y + std::remainder(lon - out.back().y, 360.0)});
  }
}

}  // namespace

Polygon::Polygon(std::vector<PolygonPoint> corners) : corners_(std::move(corners)) {
  if (corners_.empty()) {
    return;
  }
  low_ = high_ = corners_.front();
  for (PolygonPoint corner : corners_) {
    low_ = {std::min(low_.x, corner.x), std::min(low_.y, corner.y)};
    high_ = {std::max(high_.x, corner.x), std::max(high_.y, corner.y)};
  }
}

Polygon Polygon::OnGlobe(const std::vector<PolygonPoint>& corners) {
  std::vector<PolygonPoint> points;
  for (size_t i = 0; i < corners.size(); ++i) {
    PolygonPoint corner = corners[i];
    if (!points.empty()) {
      corner.y = points.back().y + std::remainder(corner.y - points.back().y, 360.0);
    }
    points.push_back(corner);
    AppendArc(corners[i], corners[(i + 1) % corners.size()], points);
  }
  Polygon polygon(std::move(points));
  polygon.globe_ = true;
  return polygon;
}

bool Polygon::Contains(double x, double y) const {
  if (!globe_) {
    return ContainsFlat(x, y);
  }
  return ContainsFlat(x, y) || ContainsFlat(x, y - 360) || ContainsFlat(x, y + 360);
}

bool Polygon::ContainsFlat(double x, double y) const {
  if (corners_.empty() || !(x >= low_.x && x <= high_.x && y >= low_.y && y <= high_.y)) {
    return false;
  }
  bool inside = false;
  PolygonPoint previous = corners_.back();
  for (PolygonPoint corner : corners_) {
    bool crosses = (corner.y > y) != (previous.y > y);
    if (crosses && x < (previous.x - corner.x) * (y - corner.y) / (previous.y - corner.y) + corner.x) {
      inside = !inside;
    }
    previous = corner;
  }
  return inside;
}

std::string Polygon::Text() const {
  std::string text;
  for (PolygonPoint corner : corners_) {
    for (double coordinate : {corner.x, corner.y}) {
      if (!text.empty()) {
        text += ',';
      }
      AppendDoubleText(coordinate, text);
    }
  }
  return text;
}

std::optional<std::vector<PolygonPoint>> ParseCorners(std::string_view text) {
  std::string copy(text);  // ends with a zero byte, as strtod needs
  const char* at = copy.c_str();
  std::vector<double> numbers;
  while (*at != '\0') {
    char* end = nullptr;
    double number = std::strtod(at, &end);
    if (end == at || !std::isfinite(number)) {
      return std::nullopt;
    }
    numbers.push_back(number);
    at = end;
    while (*at == ' ' || *at == ',') {
      ++at;
    }
  }
  if (numbers.size() < 6 || numbers.size() % 2 != 0) {
    return std::nullopt;
  }
  std::vector<PolygonPoint> corners;
  for (size_t i = 0; i < numbers.size(); i += 2) {
    corners.push_back({numbers[i], numbers[i + 1]});
  }
  return corners;
}

}  // namespace stoa::sql
