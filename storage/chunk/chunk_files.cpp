#include <algorithm>
#include <charconv>

#include "storage/chunk/disk_chunk.h"

namespace stoa::storage {
namespace {

constexpr std::string_view kPrefix = "chunk.";
constexpr std::string_view kTemporary = ".tmp";

// Takes the digits of a number without leading zeros from the front of `text`.
std::optional<uint64_t> TakeNumber(std::string_view& text) {
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<size_t>(stop - text.data());
  if (error != std::errc() || (length > 1 && text[0] == '0')) {
    return std::nullopt;
  }
  text.remove_prefix(length);
  return number;
}

// "spc", "spm.3": what may follow "chunk.7.".
bool IsSuffix(std::string_view text) {
  if (!text.starts_with("sp")) {
    return false;
  }
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto end = std::find_if_not(text.begin(), text.end(), is_letter);
  text.remove_prefix(static_cast<size_t>(end - text.begin()));
  if (text.empty()) {
    return true;
  }
  const bool numbered = text[0] == '.';
  text.remove_prefix(1);
  return numbered && TakeNumber(text).has_value() && text.empty();
}

}  // namespace

std::string ChunkFileName(ChunkId id, std::string_view suffix) {
  return fmt::format("{}{}.{}", kPrefix, id.value, suffix);
}

std::optional<ChunkId> ChunkOfFileName(std::string_view name) {
  if (!name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  if (name.ends_with(kTemporary)) {
    name.remove_suffix(kTemporary.size());
  }
  const std::optional<uint64_t> id = TakeNumber(name);
  if (!id.has_value() || !name.starts_with('.') || !IsSuffix(name.substr(1))) {
    return std::nullopt;
  }
  return ChunkId(*id);
}

Status RemoveChunkFiles(Env& env, const std::string& folder, ChunkId id) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(folder));
  Status result;
  for (const std::string& name : names) {
    if (ChunkOfFileName(name) != id) {
      continue;
    }
    Status removed = env.Remove(folder + "/" + name);
    if (!removed.ok() && removed.code() != StatusCode::kNotFound && result.ok()) {
      result = std::move(removed);
    }
  }
  return result;
}

}  // namespace stoa::storage
