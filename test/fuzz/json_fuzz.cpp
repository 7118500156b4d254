#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "storage/json/json_value.h"

namespace {

using stoa::storage::JsonKind;
using stoa::storage::JsonStep;
using stoa::storage::JsonView;

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

// Touches everything a query can ask of a value, two levels deep.
void Read(JsonView value, int depth) {
  (void)value.AsInt();
  (void)value.AsDouble();
  (void)value.Member("a");
  for (size_t i = 0; i < value.size() && i < 64 && depth < 2; ++i) {
    (void)value.MemberName(i);
    Read(value.kind() == JsonKind::kObject ? value.MemberAt(i) : value.At(i), depth + 1);
  }
}

void ReadStored(std::string_view bytes) {
  const JsonView view(bytes);
  Read(view, 0);
  (void)stoa::storage::JsonText(view);
  const std::vector<JsonStep> path = {JsonStep{"a", {}}, JsonStep{"", 1}};
  (void)stoa::storage::Follow(view, path);
  (void)stoa::storage::UpdateJsonNumber(bytes, path, int64_t{7});
  (void)stoa::storage::UpdateJsonNumber(bytes, {JsonStep{"a", {}}}, 7.5);
  (void)stoa::storage::UpdateJsonString(bytes, {JsonStep{"", 0}}, "x");
}

void ParseText(std::string_view text) {
  const auto stored = stoa::storage::EncodeJson(text);
  if (!stored.ok()) {
    return;
  }
  ReadStored(*stored);
  // What was printed is JSON again and prints the same.
  const std::string printed = stoa::storage::JsonText(JsonView(*stored));
  const auto again = stoa::storage::EncodeJson(printed);
  Require(again.ok());
  Require(stoa::storage::JsonText(JsonView(*again)) == printed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  // A copy of exactly this size, so that the sanitizer sees every read outside.
  const std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    ParseText(input);
  } else {
    ReadStored(input);
  }
  return 0;
}
