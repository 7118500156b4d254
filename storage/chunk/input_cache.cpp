#include "storage/chunk/input_cache.h"

#include <algorithm>

#include "storage/chunk/chunk_view.h"

namespace stoa::storage {
namespace {

constexpr uint64_t kWindow = 32u << 20;
constexpr uint64_t kMostWindows = 64;  // of a merge: each looks at every page

}  // namespace

InputCache::InputCache(std::span<const std::shared_ptr<const TablePart>> parts)
    : parts_(parts.begin(), parts.end()) {
  uint64_t bytes = 0;
  for (const auto& part : parts_) {
    if (!part->is_disk_chunk()) {
      continue;
    }
    const DiskChunk& chunk = *static_cast<const ChunkView&>(*part).state().chunk;
    chunk.VisitFiles([&](const std::string& suffix, const OpenSectionFile& file) {
      CachedPages cached = file.Cached();
      Share& share = shares_[suffix];
      share.cached += static_cast<uint64_t>(std::count(cached.pages.begin(), cached.pages.end(), true));
      share.pages += cached.pages.size();
      bytes += file.size();
      const std::vector<bool> none(cached.pages.size());
      files_.push_back({.file = &file, .kept = std::move(cached), .seen = none, .given_up = none});
    });
  }
  window_ = std::max(kWindow, bytes / kMostWindows);
}

void InputCache::NoteRead(uint64_t bytes) {
  read_ += bytes;
  if (read_ >= window_) {
    read_ = 0;
    Look(false);
  }
}

bool InputCache::WasUsed(const std::string& suffix) const {
  const auto share = shares_.find(suffix);
  return share == shares_.end() || share->second.cached * 2 >= share->second.pages;
}

void InputCache::Look(bool is_last) {
  for (File& file : files_) {
    Look(file, is_last);
  }
}

void InputCache::Look(File& file, bool is_last) {
  const CachedPages now = file.file->Cached();
  const size_t pages = std::min(now.pages.size(), file.kept.pages.size());
  std::vector<ByteRange> ranges;
  for (size_t page = 0; page < pages; ++page) {
    if (!now.pages[page] || file.kept.pages[page]) {
      file.seen[page] = false;
      continue;
    }
    if (!is_last && !file.seen[page]) {
      file.seen[page] = true;
      continue;
    }
    file.seen[page] = false;
    file.kept.pages[page] = file.given_up[page];
    file.given_up[page] = true;
    const uint64_t offset = page * now.page_bytes;
    if (!ranges.empty() && ranges.back().offset + ranges.back().length == offset) {
      ranges.back().length += now.page_bytes;
    } else {
      ranges.push_back({offset, now.page_bytes});
    }
  }
  file.file->GiveUp(ranges);
}

}  // namespace stoa::storage
