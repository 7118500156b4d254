#include "storage/format/open_section_file.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "storage/format/section_pages.h"
#include "storage/format/section_table.h"
#include "storage/format/touched_pages.h"

namespace stoa::storage {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kReadableBehind = 64;
constexpr uint64_t kNear = 4096;  // a gap that is read rather than asked for separately
constexpr uint64_t kFirstWindow = 64 << 10;
constexpr uint64_t kLargestBuffer = 256 << 10;  // stays in the cache of a core
constexpr uint64_t kLargestAhead = 1 << 20;

// Memory that PlaceIn() takes for `length` bytes.
uint64_t PlacedBytes(uint64_t length) { return length + 2 * kAlignment + kReadableBehind; }

// An address in `memory` that is `remainder` behind a multiple of 64.
char* PlaceIn(char* memory, uint64_t remainder) {
  const auto behind = reinterpret_cast<uintptr_t>(memory) % kAlignment;
  return memory + (kAlignment - behind) % kAlignment + remainder;
}

// Ranges of one batch that are read as one: [offset, end), the ranges `order[first .. last)`.
struct Group {
  uint64_t offset = 0;
  uint64_t end = 0;
  size_t first = 0;
  size_t last = 0;
};

std::vector<size_t> AscendingOrder(std::span<const ByteRange> ranges) {
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto less = [&](size_t a, size_t b) { return ranges[a].offset < ranges[b].offset; };
  if (!std::is_sorted(order.begin(), order.end(), less)) {
    std::sort(order.begin(), order.end(), less);
  }
  return order;
}

std::vector<Group> GroupNear(std::span<const ByteRange> ranges, std::span<const size_t> order) {
  std::vector<Group> groups;
  for (size_t i = 0; i < order.size(); ++i) {
    const ByteRange& range = ranges[order[i]];
    if (!groups.empty() && range.offset <= groups.back().end + kNear) {
      groups.back().end = std::max(groups.back().end, range.offset + range.length);
      groups.back().last = i + 1;
    } else {
      groups.push_back({range.offset, range.offset + range.length, i, i + 1});
    }
  }
  return groups;
}

uint64_t LookupKey(uint32_t kind, uint32_t key) { return uint64_t{kind} << 32 | key; }

}  // namespace

struct OpenSectionFile::State {
  FileBytes bytes;
  SectionTable table;
  std::vector<std::unique_ptr<OpenSection>> sections;  // as in the table
  std::vector<std::pair<uint64_t, size_t>> lookup;     // LookupKey → index, sorted
  std::unique_ptr<TouchedPages> touched;               // mapped only
  std::shared_ptr<PageCache> cache;                    // file mode only; may be nullptr
  uint64_t cache_file = 0;

  ~State() {
    if (cache != nullptr) {
      cache->Forget(cache_file);
    }
  }
  Status MakeSections(const OpenSectionFile* file);
  Status MakeLookup();
  const OpenSection* Find(uint32_t kind, uint32_t key) const;
  Status CheckZeros(uint64_t from, uint64_t to) const;
};

Status OpenSectionFile::State::MakeSections(const OpenSectionFile* file) {
  for (const SectionEntry& entry : table.sections) {
    auto section = std::make_unique<OpenSection>();
    section->entry = entry;
    section->file = file;
    if (bytes.mapping != nullptr) {
      section->mapping = bytes.mapping.get();
      section->address = bytes.mapping->bytes().data() + entry.offset;
    }
    const bool whole = entry.page_size == kWholeSection;
    section->page_count = whole ? 1 : PageCount(entry);
    section->page_shift = whole ? 63 : static_cast<uint32_t>(std::countr_zero(entry.page_size));
    if (cache != nullptr && entry.page_size == PageCache::kPageBytes) {
      section->cache = cache.get();
      section->first_page = {.file = cache_file, .section = static_cast<uint32_t>(sections.size())};
    }
    section->checked = std::make_unique<std::atomic<uint64_t>[]>(section->page_count / 64 + 1);
    sections.push_back(std::move(section));
  }
  return MakeLookup();
}

Status OpenSectionFile::State::MakeLookup() {
  for (size_t i = 0; i < sections.size(); ++i) {
    lookup.emplace_back(LookupKey(table.sections[i].kind, table.sections[i].key), i);
  }
  std::sort(lookup.begin(), lookup.end());
  const auto twice = std::adjacent_find(lookup.begin(), lookup.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != lookup.end()) {
    return CorruptError("{}: section {}.{} is there twice", bytes.path(), twice->first >> 32,
                        twice->first & 0xffffffff);
  }
  return Status::Ok();
}

const OpenSection* OpenSectionFile::State::Find(uint32_t kind, uint32_t key) const {
  const uint64_t wanted = LookupKey(kind, key);
  const auto found = std::lower_bound(lookup.begin(), lookup.end(), std::pair(wanted, size_t{0}));
  return found != lookup.end() && found->first == wanted ? sections[found->second].get() : nullptr;
}

OpenSectionFile::OpenSectionFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
OpenSectionFile::~OpenSectionFile() = default;

Result<std::shared_ptr<const OpenSectionFile>> OpenSectionFile::Open(Env& env, const std::string& path,
                                                                     const SectionFileKind& kind,
                                                                     AccessMode mode,
                                                                     std::shared_ptr<PageCache> cache) {
  auto state = std::make_unique<State>();
  FileBytes& bytes = state->bytes;
  if (mode == AccessMode::kMmap) {
    ASSIGN_OR_RETURN(bytes.mapping, env.Map(path));
  } else {
    ASSIGN_OR_RETURN(bytes.file, env.OpenForRead(path));
    if (cache != nullptr) {
      state->cache_file = cache->NewFile();
      state->cache = std::move(cache);
    }
  }
  const auto read = [&](uint64_t offset, uint64_t length) -> Result<std::string> {
    std::string part(length, '\0');
    RETURN_IF_ERROR(bytes.Read(offset, part));
    return part;
  };
  ASSIGN_OR_RETURN(state->table, ReadSectionTable(path, bytes.size(), kind, read));
  if (bytes.mapping != nullptr) {
    // Readers say what they are going to need; the kernel's own guess reads too much around every fault.
    bytes.mapping->Advise({0, bytes.size()}, AccessPattern::kRandom);
    state->touched = std::make_unique<TouchedPages>(bytes.size());
  }
  std::shared_ptr<OpenSectionFile> file(new OpenSectionFile(std::move(state)));
  RETURN_IF_ERROR(file->state_->MakeSections(file.get()));
  return std::shared_ptr<const OpenSectionFile>(std::move(file));
}

uint64_t OpenSectionFile::owner() const { return state_->table.owner; }
uint32_t OpenSectionFile::version() const { return state_->table.version; }
uint64_t OpenSectionFile::size() const { return state_->bytes.size(); }
AccessMode OpenSectionFile::mode() const {
  return state_->bytes.mapping != nullptr ? AccessMode::kMmap : AccessMode::kFile;
}
const std::string& OpenSectionFile::path() const { return state_->bytes.path(); }
const std::vector<SectionEntry>& OpenSectionFile::sections() const { return state_->table.sections; }

Result<SectionBytes> OpenSectionFile::Section(uint32_t kind, uint32_t key) const {
  const OpenSection* section = state_->Find(kind, key);
  if (section == nullptr) {
    return CorruptError("{}: section {}.{} is missing", path(), kind, key);
  }
  return SectionBytes(shared_from_this(), *section);
}

bool OpenSectionFile::Has(uint32_t kind, uint32_t key) const { return state_->Find(kind, key) != nullptr; }

uint64_t OpenSectionFile::ResidentBytes() const {
  return state_->bytes.mapping != nullptr ? state_->bytes.mapping->ResidentBytes() : 0;
}

bool OpenSectionFile::has_failed() const {
  return state_->bytes.mapping != nullptr && state_->bytes.mapping->has_failed();
}

CachedPages OpenSectionFile::Cached() const {
  const FileBytes& bytes = state_->bytes;
  return bytes.mapping != nullptr ? bytes.mapping->Cached() : bytes.file->Cached();
}

void OpenSectionFile::GiveUp(std::span<const ByteRange> ranges) const {
  const FileBytes& bytes = state_->bytes;
  if (bytes.mapping != nullptr) {
    bytes.mapping->GiveUp(ranges);
    return;
  }
  for (const ByteRange& range : ranges) {
    bytes.file->DropBehind(range.offset, range.length);
  }
}

Status OpenSectionFile::State::CheckZeros(uint64_t from, uint64_t to) const {
  std::string gap(to - from, '\0');
  RETURN_IF_ERROR(bytes.Read(from, gap));
  const size_t other = gap.find_first_not_of('\0');
  return other == std::string::npos ? Status::Ok()
                                    : CorruptError("{}: byte at offset {} between two sections is not zero",
                                                   bytes.path(), from + other);
}

Status OpenSectionFile::CheckAll(bool drop_behind) const {
  uint64_t end = kSectionHeaderSize;
  for (const auto& section : state_->sections) {
    RETURN_IF_ERROR(state_->CheckZeros(end, section->entry.offset));
    const SectionPages pages(state_->bytes, *section);
    for (uint64_t page = 0; page < section->page_count; ++page) {
      RETURN_IF_ERROR(pages.CheckPage(page, drop_behind));
    }
    end = section->entry.offset + StoredLength(section->entry);
  }
  return state_->CheckZeros(end, state_->table.table_offset);
}

const std::string& SectionBytes::path() const { return file_->path(); }

Status SectionBytes::NotThere(uint64_t offset, uint64_t length) const {
  return CorruptError("{}: {} bytes wanted at offset {} of section {}.{}, which has {}", path(), length,
                      offset, section_->entry.kind, section_->entry.key, section_->entry.length);
}

Status SectionBytes::VerifySlowly(uint64_t offset, uint64_t length) const {
  if (!section_->Has(offset, length)) {
    return NotThere(offset, length);
  }
  if (section_->mapping == nullptr) {
    return InternalError("{}: a section that is not mapped has no bytes to verify", path());
  }
  if (length > 0) {
    const SectionPages pages(file_->state_->bytes, *section_);
    RETURN_IF_ERROR(pages.Check(pages.PageOf(offset), pages.PageOf(offset + length - 1)));
  }
  return CheckReadable();
}

Status SectionBytes::ReadTo(uint64_t offset, std::span<char> to) const {
  if (section_->mapping != nullptr) {
    RETURN_IF_ERROR(Verify(offset, to.size()));
    std::copy_n(section_->address + offset, to.size(), to.data());
    return CheckReadable();
  }
  return ReadFromFile(offset, to);
}

// Pages at the ends that are wanted in part are checked on their own first; whole ones in `to`.
Status SectionBytes::ReadFromFile(uint64_t offset, std::span<char> to) const {
  if (!section_->Has(offset, to.size())) {
    return NotThere(offset, to.size());
  }
  if (to.empty()) {
    return Status::Ok();
  }
  const FileBytes& bytes = file_->state_->bytes;
  const SectionPages pages(bytes, *section_);
  const uint64_t end = offset + to.size();
  const uint64_t first = pages.PageOf(offset);
  const uint64_t last = pages.PageOf(end - 1);
  const auto in_part = [&](uint64_t page) {
    return pages.PageStart(page) < offset || pages.PageEnd(page) > end;
  };
  for (const uint64_t page : {first, last}) {
    if (in_part(page)) {
      RETURN_IF_ERROR(pages.Check(page, page));
    }
  }
  RETURN_IF_ERROR(bytes.file->Read(section_->entry.offset + offset, to));
  for (uint64_t page = first; page <= last; ++page) {
    if (!section_->IsChecked(page)) {
      const uint64_t start = pages.PageStart(page);
      RETURN_IF_ERROR(pages.CheckBytes(page, {to.data() + (start - offset), pages.PageEnd(page) - start}));
    }
  }
  return Status::Ok();
}

Result<std::string_view> SectionBytes::Read(uint64_t offset, uint64_t length, ReadBuffer& buffer) const {
  if (section_->mapping != nullptr) {
    RETURN_IF_ERROR(Verify(offset, length));
    return std::string_view(section_->address + offset, length);
  }
  if (!section_->Has(offset, length)) {  // before memory of that size is taken
    return NotThere(offset, length);
  }
  char* const memory = PlaceIn(buffer.Allocate(PlacedBytes(length)), 0);
  RETURN_IF_ERROR(ReadFromFile(offset, {memory, length}));
  return std::string_view(memory, length);
}

Status SectionBytes::ReadBatch(std::span<const ByteRange> ranges, std::span<std::string_view> out,
                               ReadBuffer& buffer) const {
  STOA_CHECK(out.size() == ranges.size());
  if (section_->mapping == nullptr) {
    return ReadBatchFromFile(ranges, out, buffer);
  }
  WillNeed(ranges);
  for (size_t i = 0; i < ranges.size(); ++i) {
    RETURN_IF_ERROR(Verify(ranges[i].offset, ranges[i].length));
    out[i] = {section_->address + ranges[i].offset, ranges[i].length};
  }
  return Status::Ok();
}

Status SectionBytes::ReadBatchFromFile(std::span<const ByteRange> ranges, std::span<std::string_view> out,
                                       ReadBuffer& buffer) const {
  for (const ByteRange& range : ranges) {
    if (!section_->Has(range.offset, range.length)) {
      return NotThere(range.offset, range.length);
    }
  }
  const std::vector<size_t> order = AscendingOrder(ranges);
  const std::vector<Group> groups = GroupNear(ranges, order);
  const FileBytes& bytes = file_->state_->bytes;
  const SectionPages pages(bytes, *section_);
  std::vector<uint64_t> unchecked;
  std::vector<ReadRequest> requests;
  requests.reserve(groups.size());
  uint64_t total = 0;
  for (const Group& group : groups) {
    total += PlacedBytes(group.end - group.offset);
  }
  // One piece of memory a batch: a thousand small ones cost as much as reading what is in the page cache.
  char* free = total > 0 ? buffer.Allocate(total) : nullptr;
  for (const Group& group : groups) {
    const uint64_t length = group.end - group.offset;
    char* const memory = PlaceIn(free, group.offset % kAlignment);
    free += PlacedBytes(length);
    const ReadRequest request{section_->entry.offset + group.offset, {memory, length}};
    for (size_t i = group.first; i < group.last; ++i) {
      const ByteRange& range = ranges[order[i]];
      out[order[i]] = {memory + (range.offset - group.offset), range.length};
    }
    if (length == 0 || CopyCached(request)) {
      continue;
    }
    requests.push_back(request);
    for (uint64_t page = pages.PageOf(group.offset); page <= pages.PageOf(group.end - 1); ++page) {
      if (!section_->IsChecked(page) && (unchecked.empty() || unchecked.back() != page)) {
        unchecked.push_back(page);
      }
    }
  }
  RETURN_IF_ERROR(pages.CheckTogether(unchecked));
  return bytes.file->ReadBatch(requests);
}

bool SectionBytes::FindPage(uint64_t page, PageView& view) const {
  PageKey key = section_->first_page;
  key.page = page;
  PageCache::Found found = section_->cache->Find(key);
  view.is_wanted = found.wanted;
  view.pin = std::move(found.page);
  view.bytes = view.pin.get();
  view.number = view.pin != nullptr ? page : PageView::kNone;
  return view.pin != nullptr;
}

Status SectionBytes::FetchPage(uint64_t page, PageView& view) const {
  PageKey key = section_->first_page;
  key.page = page;
  const FileBytes& bytes = file_->state_->bytes;
  const SectionPages pages(bytes, *section_);
  const uint64_t start = pages.PageStart(page);
  const uint64_t length = pages.PageEnd(page) - start;
  PageCache::Frame frame = view.is_wanted ? section_->cache->Take(key) : nullptr;
  view.number = PageView::kNone;
  if (frame == nullptr && view.own.empty()) {
    view.own.resize(PageCache::kPageBytes + PageCache::kReadableBehind);
  }
  const std::span<char> to(frame != nullptr ? frame.get() : view.own.data(), length);
  RETURN_IF_ERROR(bytes.file->Read(section_->entry.offset + start, to));
  if (!section_->IsChecked(page)) {
    RETURN_IF_ERROR(pages.CheckBytes(page, {to.data(), length}));
  }
  view.pin = frame;
  view.bytes = to.data();
  view.number = page;
  if (frame != nullptr) {
    section_->cache->Keep(key, std::move(frame));
  }
  return Status::Ok();
}

// Whether all of it was in the cache.
bool SectionBytes::CopyCached(const ReadRequest& request) const {
  if (section_->cache == nullptr) {
    return false;
  }
  PageKey key = section_->first_page;
  const uint64_t begin = request.offset - section_->entry.offset;
  const uint64_t end = begin + request.to.size();
  for (uint64_t at = begin; at < end;) {
    key.page = at / PageCache::kPageBytes;
    const PageCache::Pin page = section_->cache->FindOnly(key);
    if (page == nullptr) {
      return false;
    }
    const uint64_t part = std::min(end, (key.page + 1) * PageCache::kPageBytes) - at;
    std::copy_n(page.get() + at % PageCache::kPageBytes, part, request.to.data() + (at - begin));
    at += part;
  }
  return true;
}

// A page without a mark is going to be read whole, for its checksum.
void SectionBytes::WillNeed(std::span<const ByteRange> ranges) const {
  if (section_->mapping == nullptr) {
    return;
  }
  const auto is_ready = [&](const ByteRange& range) {
    return range.length == 0 || !section_->Has(range.offset, range.length) ||
           section_->AreChecked(range.offset, range.length);
  };
  TouchedPages& touched = *file_->state_->touched;
  if (std::all_of(ranges.begin(), ranges.end(), is_ready)) {
    touched.WillNeed(*section_->mapping, section_->entry.offset, section_->entry.length, ranges);
    return;
  }
  const SectionPages pages(file_->state_->bytes, *section_);
  std::vector<ByteRange> whole(ranges.begin(), ranges.end());
  for (ByteRange& range : whole) {
    if (!is_ready(range)) {
      const uint64_t start = pages.PageStart(pages.PageOf(range.offset));
      range = {start, pages.PageEnd(pages.PageOf(range.offset + range.length - 1)) - start};
    }
  }
  touched.WillNeed(*section_->mapping, section_->entry.offset, section_->entry.length, whole);
}

void SectionBytes::Advise(AccessPattern pattern) const {
  if (section_->mapping != nullptr) {
    section_->mapping->Advise({section_->entry.offset, section_->entry.length}, pattern);
  }
}

ByteRange SectionBytes::InFile(ByteRange range) const {
  const uint64_t offset = std::min(range.offset, section_->entry.length);
  return {section_->entry.offset + offset, std::min(range.length, section_->entry.length - offset)};
}

bool SectionBytes::ReadAhead(ByteRange range) const {
  const ByteRange in_file = InFile(range);
  if (in_file.length == 0) {
    return false;
  }
  if (section_->mapping != nullptr) {
    return section_->mapping->WillNeed({&in_file, 1});
  }
  if (section_->cache != nullptr) {
    ReadAheadUncached({in_file.offset - section_->entry.offset, in_file.length});
  } else {
    file_->state_->bytes.file->WillNeed(in_file.offset, in_file.length);
  }
  return false;
}

// Asks for the runs of pages that the cache does not have.
void SectionBytes::ReadAheadUncached(ByteRange range) const {
  PageKey key = section_->first_page;
  const uint64_t end = range.offset + range.length;
  uint64_t run = range.offset;
  for (uint64_t at = range.offset; at < end;) {
    key.page = at / PageCache::kPageBytes;
    const uint64_t next = std::min(end, (key.page + 1) * PageCache::kPageBytes);
    if (section_->cache->Has(key)) {
      file_->state_->bytes.file->WillNeed(section_->entry.offset + run, at - run);
      run = next;
    }
    at = next;
  }
  file_->state_->bytes.file->WillNeed(section_->entry.offset + run, end - run);
}

void SectionBytes::MapIn(ByteRange range) const {
  const ByteRange in_file = InFile(range);
  if (section_->mapping != nullptr && in_file.length > 0) {
    section_->mapping->MapIn(in_file);
  }
}

Result<std::string_view> SectionCursor::At(uint64_t offset, uint64_t length) {
  if (section_.is_cached()) {
    return InPages(offset, length);
  }
  if (offset < asked_begin_ || offset + step_ + length > asked_end_) {
    AskAhead(offset, length);
  }
  if (section_.address() != nullptr) {
    RETURN_IF_ERROR(section_.Verify(offset, length));
    return std::string_view(section_.address() + offset, length);
  }
  if (offset < window_offset_ || offset - window_offset_ > window_length_ ||
      length > window_length_ - (offset - window_offset_)) {
    RETURN_IF_ERROR(MoveWindow(offset, length));
  }
  return std::string_view(window_.data() + (offset - window_offset_), length);
}

// What has been asked for reaches one step farther than what is being read; the steps grow.
void SectionCursor::AskAhead(uint64_t offset, uint64_t length) {
  const uint64_t total = section_.length();
  if (offset > total || length > total - offset || (offset >= asked_begin_ && asked_end_ >= total)) {
    return;
  }
  const bool goes_on = offset >= asked_begin_ && offset <= asked_end_ && asked_end_ > 0;
  const uint64_t begin = goes_on ? asked_end_ : offset;
  step_ = goes_on ? std::min(step_ * 2, kLargestAhead) : kFirstWindow;
  asked_begin_ = offset;
  asked_end_ = std::max(offset + length, begin) + step_;
  const bool is_missing = section_.ReadAhead({begin, asked_end_ - begin});
  if (goes_on && was_missing_) {
    section_.MapIn({offset, begin - offset});
  }
  was_missing_ = is_missing;
}

// Only a page that is missed is a reason to ask ahead.
Status SectionCursor::MoveToPage(uint64_t page) {
  if (page == page_.number || section_.FindPage(page, page_)) {
    return Status::Ok();
  }
  const uint64_t start = page * PageCache::kPageBytes;
  const uint64_t length = std::min(PageCache::kPageBytes, section_.length() - start);
  if (start < asked_begin_ || start + step_ + length > asked_end_) {
    AskAhead(start, length);
  }
  return section_.FetchPage(page, page_);
}

Result<std::string_view> SectionCursor::InPages(uint64_t offset, uint64_t length) {
  constexpr uint64_t kPage = PageCache::kPageBytes;
  const uint64_t total = section_.length();
  if (offset > total || length > total - offset) {
    return section_.ReadTo(offset, {static_cast<char*>(nullptr), length});
  }
  if (length == 0) {
    return std::string_view();
  }
  const uint64_t page = offset / kPage;
  if (offset % kPage + length <= kPage) {
    RETURN_IF_ERROR(MoveToPage(page));
    return std::string_view(page_.bytes + offset % kPage, length);
  }
  if (offset == window_offset_ && length == window_length_) {
    return std::string_view(window_.data(), length);
  }
  window_length_ = 0;
  if (window_.size() < length + kReadableBehind) {
    window_.resize(length + kReadableBehind);
  }
  for (uint64_t at = offset; at < offset + length;) {
    const uint64_t number = at / kPage;
    RETURN_IF_ERROR(MoveToPage(number));
    const uint64_t part = std::min(offset + length, (number + 1) * kPage) - at;
    std::copy_n(page_.bytes + at % kPage, part, window_.data() + (at - offset));
    at += part;
  }
  window_offset_ = offset;
  window_length_ = length;
  return std::string_view(window_.data(), length);
}

Status SectionCursor::MoveWindow(uint64_t offset, uint64_t length) {
  const uint64_t total = section_.length();
  window_length_ = 0;
  if (offset > total || length > total - offset) {
    return section_.ReadTo(offset, {static_cast<char*>(nullptr), length});
  }
  const uint64_t start = offset / kAlignment * kAlignment;
  const uint64_t wanted_end = std::max(offset + length, start + std::min(step_, kLargestBuffer));
  // Ends at a page of the checksums where it can: such a page is then read once.
  const uint64_t end = std::min(total, (wanted_end + kDefaultPage - 1) / kDefaultPage * kDefaultPage);
  if (window_.size() < end - start + kReadableBehind) {
    window_.resize(end - start + kReadableBehind);
  }
  RETURN_IF_ERROR(section_.ReadTo(start, {window_.data(), end - start}));
  window_offset_ = start;
  window_length_ = end - start;
  return Status::Ok();
}

}  // namespace stoa::storage
