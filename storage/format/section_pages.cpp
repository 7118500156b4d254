#include "storage/format/section_pages.h"

#include <algorithm>
#include <memory>

#include "storage/base/byte_reader.h"
#include "storage/base/crc32c.h"
#include "storage/format/section_table.h"

namespace stoa::storage {
namespace {

constexpr uint64_t kPiece = 256 << 10;
constexpr uint64_t kTogether = 8 << 20;

}  // namespace

Status FileBytes::Read(uint64_t offset, std::span<char> to) const {
  if (file != nullptr) {
    return file->Read(offset, to);
  }
  const auto all = mapping->bytes();
  if (offset > all.size() || to.size() > all.size() - offset) {
    return CorruptError("{}: {} bytes wanted at offset {}, the file has {}", path(), to.size(), offset,
                        all.size());
  }
  std::copy_n(all.data() + offset, to.size(), to.data());
  return mapping->CheckReadable();
}

void FileBytes::DropBehind(uint64_t offset, uint64_t length) const {
  if (file != nullptr) {
    file->DropBehind(offset, length);
  } else {
    mapping->DropBehind({offset, length});
  }
}

uint64_t SectionPages::PageEnd(uint64_t page) const {
  const uint64_t start = PageStart(page);
  const uint64_t rest = section_.entry.length - start;
  return section_.entry.page_size == kWholeSection
             ? section_.entry.length
             : start + std::min<uint64_t>(rest, section_.entry.page_size);
}

Status SectionPages::WrongChecksum(uint64_t offset) const {
  return CorruptError("{}: wrong checksum of section {}.{} (offset {})", bytes_.path(), section_.entry.kind,
                      section_.entry.key, section_.entry.offset + offset);
}

Status SectionPages::LoadCrcs() const {
  std::string raw(PageCount(section_.entry) * sizeof(uint32_t), '\0');
  RETURN_IF_ERROR(bytes_.Read(section_.entry.offset + section_.entry.length, raw));
  if (Crc32c(raw) != section_.entry.crc) {
    return WrongChecksum(section_.entry.length);
  }
  auto crcs = std::make_unique<std::vector<uint32_t>>();
  crcs->reserve(raw.size() / sizeof(uint32_t));
  ByteReader reader(raw);
  while (!reader.done()) {
    ASSIGN_OR_RETURN(const uint32_t crc, reader.Read<uint32_t>());
    crcs->push_back(crc);
  }
  const std::vector<uint32_t>* none = nullptr;
  if (section_.page_crcs.compare_exchange_strong(none, crcs.get(), std::memory_order_acq_rel)) {
    static_cast<void>(crcs.release());  // else another thread was first
  }
  return Status::Ok();
}

Result<uint32_t> SectionPages::CrcOf(uint64_t page) const {
  if (section_.entry.page_size == kWholeSection) {
    return section_.entry.crc;
  }
  if (section_.page_crcs.load(std::memory_order_acquire) == nullptr) {
    RETURN_IF_ERROR(LoadCrcs());
  }
  return (*section_.page_crcs.load(std::memory_order_acquire))[page];
}

Status SectionPages::Finish(uint64_t page, uint32_t crc) const {
  ASSIGN_OR_RETURN(const uint32_t wanted, CrcOf(page));
  if (bytes_.mapping != nullptr) {
    RETURN_IF_ERROR(bytes_.mapping->CheckReadable());  // zeros of a page that could not be read
  }
  if (crc != wanted) {
    return WrongChecksum(PageStart(page));
  }
  section_.checked[page / 64].fetch_or(uint64_t{1} << (page % 64), std::memory_order_release);
  return Status::Ok();
}

Status SectionPages::CheckBytes(uint64_t page, std::string_view page_bytes) const {
  return Finish(page, Crc32c(page_bytes));
}

Status SectionPages::CheckPage(uint64_t page, bool drop_behind) const {
  const uint64_t end = PageEnd(page);
  uint32_t crc = 0;
  std::unique_ptr<char[]> piece;
  if (bytes_.file != nullptr) {
    piece = std::make_unique_for_overwrite<char[]>(std::min(kPiece, end - PageStart(page)));
  }
  for (uint64_t at = PageStart(page); at < end;) {
    const uint64_t length = std::min(kPiece, end - at);
    const uint64_t in_file = section_.entry.offset + at;
    if (bytes_.file != nullptr) {
      RETURN_IF_ERROR(bytes_.file->Read(in_file, {piece.get(), length}));
      crc = Crc32c({piece.get(), length}, crc);
    } else {
      const ByteRange range{in_file, length};
      bytes_.mapping->WillNeed({&range, 1});
      crc = Crc32c({section_.address + at, length}, crc);
    }
    if (drop_behind) {
      bytes_.DropBehind(in_file, length);
    }
    at += length;
  }
  return Finish(page, crc);
}

Status SectionPages::Check(uint64_t first, uint64_t last) const {
  for (uint64_t page = first; page <= last; ++page) {
    if (!section_.IsChecked(page)) {
      RETURN_IF_ERROR(CheckPage(page, false));
    }
  }
  return Status::Ok();
}

Status SectionPages::CheckTogether(std::span<const uint64_t> pages) const {
  if (pages.empty()) {
    return Status::Ok();
  }
  if (section_.page_shift >= 63 || section_.entry.page_size > kTogether / 2) {
    for (const uint64_t page : pages) {
      RETURN_IF_ERROR(CheckPage(page, false));
    }
    return Status::Ok();
  }
  const uint64_t page_size = section_.entry.page_size;
  const size_t at_once = std::min<size_t>(pages.size(), kTogether / page_size);
  const auto memory = std::make_unique_for_overwrite<char[]>(at_once * page_size);
  std::vector<ReadRequest> requests;
  for (; !pages.empty(); pages = pages.subspan(requests.size())) {
    requests.clear();
    for (const uint64_t page : pages.first(std::min(at_once, pages.size()))) {
      requests.push_back({section_.entry.offset + PageStart(page),
                          {memory.get() + requests.size() * page_size, PageEnd(page) - PageStart(page)}});
    }
    RETURN_IF_ERROR(bytes_.file->ReadBatch(requests));
    for (size_t i = 0; i < requests.size(); ++i) {
      RETURN_IF_ERROR(CheckBytes(pages[i], {requests[i].to.data(), requests[i].to.size()}));
    }
  }
  return Status::Ok();
}

}  // namespace stoa::storage
