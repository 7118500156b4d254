#include <span>

#include "storage/base/byte_writer.h"
#include "storage/json/json_layout.h"
#include "storage/json/json_value.h"

namespace stoa::storage {
namespace {

using Path = std::span<const JsonStep>;

constexpr size_t kNoItem = static_cast<size_t>(-1);

size_t FindItem(JsonView container, const JsonStep& step) {
  if (step.index) {
    return container.kind() == JsonKind::kArray && *step.index < container.size() ? *step.index : kNoItem;
  }
  if (container.kind() != JsonKind::kObject) {
    return kNoItem;
  }
  for (size_t i = 0; i < container.size(); ++i) {
    if (container.MemberName(i) == step.name && container.MemberAt(i).exists()) {
      return i;
    }
  }
  return kNoItem;
}

// Appends `value` with what is at `path`, known to exist, replaced by `replacement`.
void AppendReplaced(JsonView value, Path path, std::string_view replacement, std::string& out) {
  if (path.empty()) {
    out.append(replacement);
    return;
  }
  const size_t target = FindItem(value, path[0]);
  const bool object = value.kind() == JsonKind::kObject;
  std::vector<uint32_t> ends;
  ends.reserve(value.size());
  out.push_back(static_cast<char>(value.kind()));
  const size_t begin = out.size();
  for (size_t i = 0; i < value.size(); ++i) {
    if (object) {
      json_layout::AppendString(value.MemberName(i), out);
    }
    const JsonView item = object ? value.MemberAt(i) : value.At(i);
    if (i == target) {
      AppendReplaced(item, path.subspan(1), replacement, out);
    } else {
      out.append(item.bytes());
    }
    ends.push_back(static_cast<uint32_t>(out.size() - begin));
  }
  json_layout::AppendContainerEnd(ends.data(), ends.size(), out);
}

// Whether every step finds an item that is there; the walk of AppendReplaced.
JsonView FindTarget(JsonView value, Path path) {
  if (path.size() > static_cast<size_t>(json_layout::kMaxDepth)) {
    return {};
  }
  for (const JsonStep& step : path) {
    const size_t item = FindItem(value, step);
    if (item == kNoItem) {
      return {};
    }
    value = value.kind() == JsonKind::kObject ? value.MemberAt(item) : value.At(item);
  }
  return value;
}

std::string Replaced(JsonView stored, Path path, std::string_view replacement) {
  std::string out;
  out.reserve(stored.bytes().size() + replacement.size());
  AppendReplaced(stored, path, replacement, out);
  return out;
}

template <typename Number>
Result<std::string> ReplaceNumber(std::string_view stored, Path path, JsonKind kind, Number value) {
  const JsonView top(stored);
  const JsonView target = FindTarget(top, path);
  if (!target.is_number() && target.kind() != JsonKind::kTrue && target.kind() != JsonKind::kFalse) {
    return NotFoundError("no number at this JSON path");
  }
  std::string bytes(1, static_cast<char>(kind));
  ByteWriter(bytes).Write(value);
  return Replaced(top, path, bytes);
}

}  // namespace

Result<std::string> UpdateJsonNumber(std::string_view stored, const std::vector<JsonStep>& path,
                                     int64_t value) {
  return ReplaceNumber(stored, path, JsonKind::kInt, value);
}

Result<std::string> UpdateJsonNumber(std::string_view stored, const std::vector<JsonStep>& path,
                                     double value) {
  return ReplaceNumber(stored, path, JsonKind::kDouble, value);
}

Result<std::string> UpdateJsonString(std::string_view stored, const std::vector<JsonStep>& path,
                                     std::string_view value) {
  const JsonView top(stored);
  if (FindTarget(top, path).kind() != JsonKind::kString) {
    return NotFoundError("no string at this JSON path");
  }
  std::string bytes(1, static_cast<char>(JsonKind::kString));
  json_layout::AppendString(value, bytes);
  return Replaced(top, path, bytes);
}

}  // namespace stoa::storage
