#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"

namespace stoa::storage {

// The stored form of a JSON attribute: one tag byte, then the value; docs/format/json.md. Containers carry
// offsets, so that a path is followed without decoding its siblings. Empty bytes mean "no value" (SQL NULL).
enum class JsonKind : uint8_t { kNull, kFalse, kTrue, kInt, kDouble, kString, kArray, kObject };

// A view into stored JSON. Copying is cheap; valid while the bytes are. A default one is absent (no value).
// Never reads outside its bytes: malformed bytes read as absent.
class JsonView {
 public:
  JsonView() = default;
  explicit JsonView(std::string_view bytes);

  bool exists() const { return exists_; }  // a JSON null exists
  JsonKind kind() const { return kind_; }
  bool is_null() const { return !exists_ || kind_ == JsonKind::kNull; }
  bool is_number() const;

  int64_t AsInt() const;                         // doubles truncate, true 1, numeric text is parsed; else 0
  double AsDouble() const;                       // likewise
  std::string_view AsString() const;             // kString only; else empty
  size_t size() const;                           // items of an array, members of an object; else 0
  JsonView At(size_t index) const;               // array item
  JsonView Member(std::string_view name) const;  // object member
  std::string_view MemberName(size_t index) const;  // object: name of the index-th member, in document order
  JsonView MemberAt(size_t index) const;
  std::string_view bytes() const { return bytes_; }  // this value alone, a complete stored JSON

 private:
  std::string_view bytes_;
  JsonKind kind_ = JsonKind::kNull;
  bool exists_ = false;
};

// One step of a path: j.name, j['name'] or j[3].
struct JsonStep {
  std::string name;
  std::optional<uint64_t> index;
  friend bool operator==(const JsonStep&, const JsonStep&) = default;
};
JsonView Follow(JsonView value, const std::vector<JsonStep>& path);

// Text → stored form. The top must be an object or an array (features DT-22); kInvalid says what and where.
Result<std::string> EncodeJson(std::string_view text);
// Compact text as users know it: no blanks, doubles with six decimals (1.500000), member order kept.
void AppendJsonText(JsonView value, std::string& out);
std::string JsonText(JsonView value);

// Replaces the existing scalar at `path` by a number; kNotFound when there is none or it is not a number (or
// true/false).
Result<std::string> UpdateJsonNumber(std::string_view stored, const std::vector<JsonStep>& path,
                                     int64_t value);
Result<std::string> UpdateJsonNumber(std::string_view stored, const std::vector<JsonStep>& path,
                                     double value);
Result<std::string> UpdateJsonString(std::string_view stored, const std::vector<JsonStep>& path,
                                     std::string_view value);

}  // namespace stoa::storage
