#include <array>
#include <charconv>
#include <cmath>

#include "storage/json/json_layout.h"
#include "storage/json/json_value.h"

namespace stoa::storage {
namespace {

constexpr size_t kMinDecimals = 6;
constexpr double kFixedBelow = 1e22;   // larger values are written with an exponent
constexpr double kFixedAbove = 1e-15;  // smaller ones too

void AppendEscaped(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out.push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out.append("\\\"");
        break;
      case '\\':
        out.append("\\\\");
        break;
      case '\b':
        out.append("\\b");
        break;
      case '\f':
        out.append("\\f");
        break;
      case '\n':
        out.append("\\n");
        break;
      case '\r':
        out.append("\\r");
        break;
      case '\t':
        out.append("\\t");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out.append("\\u00");
          out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
          out.push_back(kHex[static_cast<unsigned char>(c) & 0xf]);
        } else {
          out.push_back(c);
        }
    }
  }
  out.push_back('"');
}

// The shortest digits that give the same double again, at least six of them after the point.
void AppendDouble(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out.append("null");
    return;
  }
  const double size = std::fabs(value);
  const bool fixed = size == 0 || (size < kFixedBelow && size >= kFixedAbove);
  std::array<char, 64> buffer;
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr;
  const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
  out.append(text);
  if (!fixed) {
    return;
  }
  const size_t point = text.find('.');
  size_t decimals = 0;
  if (point == std::string_view::npos) {
    out.push_back('.');
  } else {
    decimals = text.size() - point - 1;
  }
  if (decimals < kMinDecimals) {
    out.append(kMinDecimals - decimals, '0');
  }
}

void AppendInt(int64_t value, std::string& out) {
  std::array<char, 24> buffer;
  out.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
}

void AppendValue(JsonView value, int depth, std::string& out);

// Damaged ends could make items overlap and printing explode; items that begin before the last one ended are
// absent.
void AppendContainer(JsonView value, int depth, std::string& out) {
  const bool object = value.kind() == JsonKind::kObject;
  const char* last_end = value.bytes().data();
  out.push_back(object ? '{' : '[');
  for (size_t i = 0; i < value.size(); ++i) {
    if (i > 0) {
      out.push_back(',');
    }
    if (object) {
      AppendEscaped(value.MemberName(i), out);
      out.push_back(':');
    }
    JsonView item = object ? value.MemberAt(i) : value.At(i);
    if (item.exists()) {
      if (item.bytes().data() < last_end) {
        item = {};
      } else {
        last_end = item.bytes().data() + item.bytes().size();
      }
    }
    AppendValue(item, depth + 1, out);
  }
  out.push_back(object ? '}' : ']');
}

void AppendValue(JsonView value, int depth, std::string& out) {
  if (!value.exists() || depth > json_layout::kMaxDepth) {
    out.append("null");
    return;
  }
  switch (value.kind()) {
    case JsonKind::kNull:
      out.append("null");
      return;
    case JsonKind::kFalse:
      out.append("false");
      return;
    case JsonKind::kTrue:
      out.append("true");
      return;
    case JsonKind::kInt:
      AppendInt(value.AsInt(), out);
      return;
    case JsonKind::kDouble:
      AppendDouble(value.AsDouble(), out);
      return;
    case JsonKind::kString:
      AppendEscaped(value.AsString(), out);
      return;
    case JsonKind::kArray:
    case JsonKind::kObject:
      AppendContainer(value, depth, out);
      return;
  }
}

}  // namespace

void AppendJsonText(JsonView value, std::string& out) { AppendValue(value, 0, out); }

std::string JsonText(JsonView value) {
  std::string out;
  AppendJsonText(value, out);
  return out;
}

}  // namespace stoa::storage
