#include <algorithm>

#include "sql/expr/functions/function.h"
#include "sql/expr/functions/polygon.h"

// poly2d(), geopoly2d() and contains(). A polygon as a value is the text of its corners.
namespace stoa::sql {
namespace {

bool IsPolygonCall(const ParsedExpr& expr) {
  return expr.kind == ParsedKind::kFunction && (expr.name == "poly2d" || expr.name == "geopoly2d");
}

Polygon MakePolygon(std::vector<PolygonPoint> corners, bool globe) {
  return globe ? Polygon::OnGlobe(corners) : Polygon(std::move(corners));
}

// The arguments of poly2d() or geopoly2d(): coordinates as reals, or one text of them.
Result<std::vector<SharedExpr>> BindCorners(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  if (args.size() == 1 && LaneOf(args[0]->type()) == VectorLane::kBytes) {
    args[0] = AsText(std::move(args[0]));
    return args;
  }
  if (args.size() < 6 || args.size() % 2 != 0) {
    return FunctionError(scope, fmt::format("{}() needs an even number of coordinates, at least 6, not {}",
                                            call.name, args.size()));
  }
  for (SharedExpr& arg : args) {
    arg = AsReal(std::move(arg));
  }
  return args;
}

// Corners in a row of evaluated arguments, from argument `first` on.
std::optional<std::vector<PolygonPoint>> CornersAt(const KernelInputs& in, size_t first, size_t row) {
  if (LaneOf(in[first].type()) == VectorLane::kBytes) {
    return ParseCorners(in[first].texts()[row]);
  }
  std::vector<PolygonPoint> corners;
  for (size_t arg = first; arg + 1 < in.size(); arg += 2) {
    corners.push_back({in[arg].reals()[row], in[arg + 1].reals()[row]});
  }
  return corners;
}

Result<SharedExpr> BindPolygon(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindCorners(call, scope));
  return MakeKernel(ValueType::kString, std::move(args),
                    [globe = call.name == "geopoly2d"](const KernelInputs& in, Vector& out) {
                      for (size_t row = 0; row < out.size(); ++row) {
                        auto corners = CornersAt(in, 0, row);
                        out.texts()[row] = corners ? out.Own(MakePolygon(std::move(*corners), globe).Text())
                                                   : std::string_view();
                      }
                    });
}

// The polygon when all its corners are constants.
Result<std::shared_ptr<const Polygon>> ConstantPolygon(const ParsedExpr& call,
                                                       std::span<const SharedExpr> args, bool globe,
                                                       NameScope& scope) {
  std::vector<PolygonPoint> corners;
  if (LaneOf(args[0]->type()) == VectorLane::kBytes) {
    ASSIGN_OR_RETURN(Value text, EvaluateConstant(*args[0]));
    auto parsed = ParseCorners(text.bytes);
    if (!parsed) {
      return FunctionError(scope, fmt::format("the polygon of {}() must be 'x1,y1,x2,y2,x3,y3…'", call.name));
    }
    corners = std::move(*parsed);
  }
  for (size_t arg = 0; corners.size() < args.size() / 2; arg += 2) {
    ASSIGN_OR_RETURN(Value x, EvaluateConstant(*args[arg]));
    ASSIGN_OR_RETURN(Value y, EvaluateConstant(*args[arg + 1]));
    corners.push_back({x.real, y.real});
  }
  return std::make_shared<const Polygon>(MakePolygon(std::move(corners), globe));
}

Result<SharedExpr> MakeContains(std::vector<SharedExpr> point, std::shared_ptr<const Polygon> polygon) {
  return MakeKernel(ValueType::kInt, std::move(point),
                    [polygon = std::move(polygon)](const KernelInputs& in, Vector& out) {
                      for (size_t row = 0; row < out.size(); ++row) {
                        out.ints()[row] = polygon->Contains(in[0].reals()[row], in[1].reals()[row]) ? 1 : 0;
                      }
                    });
}

// contains(polygon, x, y)
Result<SharedExpr> BindContains(const ParsedExpr& call, NameScope& scope) {
  const ParsedExpr& shape = *call.args[0];
  std::vector<SharedExpr> corners;
  bool globe = IsPolygonCall(shape) && shape.name == "geopoly2d";
  if (IsPolygonCall(shape)) {
    ASSIGN_OR_RETURN(corners, BindCorners(shape, scope));
  } else {
    ASSIGN_OR_RETURN(SharedExpr text, BindExpr(shape, scope));
    if (!IsText(text->type()) && text->type() != ValueType::kJson) {
      return FunctionError(scope, "contains() needs poly2d() or geopoly2d() as its first argument");
    }
    corners.push_back(AsText(std::move(text)));
  }
  std::vector<SharedExpr> args;
  for (size_t i : {1, 2}) {
    ASSIGN_OR_RETURN(SharedExpr coordinate, BindExpr(*call.args[i], scope));
    if (IsSet(coordinate->type()) || IsVector(coordinate->type())) {
      return FunctionError(scope, "contains() needs two numbers after the polygon");
    }
    args.push_back(AsReal(std::move(coordinate)));
  }
  if (std::all_of(corners.begin(), corners.end(), [](const SharedExpr& c) { return c->is_constant(); })) {
    ASSIGN_OR_RETURN(auto polygon, ConstantPolygon(shape, corners, globe, scope));
    return MakeContains(std::move(args), std::move(polygon));
  }
  std::move(corners.begin(), corners.end(), std::back_inserter(args));
  return MakeKernel(ValueType::kInt, std::move(args), [globe](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      auto shape_corners = CornersAt(in, 2, row);
      out.ints()[row] =
          shape_corners &&
          MakePolygon(std::move(*shape_corners), globe).Contains(in[0].reals()[row], in[1].reals()[row]);
    }
  });
}

constexpr FunctionEntry kFunctions[] = {
    {"poly2d", 1, kAnyCount, BindPolygon},
    {"geopoly2d", 1, kAnyCount, BindPolygon},
    {"contains", 3, 3, BindContains},
};

}  // namespace

std::span<const FunctionEntry> PolygonFunctions() { return kFunctions; }

}  // namespace stoa::sql
