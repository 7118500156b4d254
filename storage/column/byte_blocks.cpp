#include "storage/column/byte_blocks.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"

namespace stoa::storage {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint32_t kOneLength = 0;  // shapes of a block; else log2 of the width of an end
constexpr uint32_t kMaxShape = 3;
constexpr SectionLayout kLayout{.alignment = 64, .page_size = kDefaultPage};

uint64_t RoundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

uint64_t HeadSize(uint32_t shape, uint32_t count) {
  return shape == kOneLength ? sizeof(uint64_t) : RoundUp(uint64_t{count} << shape, sizeof(uint64_t));
}

uint32_t ShapeOf(std::span<const uint64_t> offsets) {
  const uint64_t length = offsets[1] - offsets[0];
  bool one_length = true;
  for (size_t i = 1; i < offsets.size(); ++i) {
    one_length = one_length && offsets[i] - offsets[i - 1] == length;
  }
  if (one_length) {
    return kOneLength;
  }
  const uint64_t total = offsets.back() - offsets.front();
  return total <= UINT16_MAX ? 1 : total <= UINT32_MAX ? 2 : 3;
}

std::string EncodeHead(std::span<const uint64_t> offsets, uint32_t shape) {
  std::string head;
  ByteWriter writer(head);
  if (shape == kOneLength) {
    writer.Write<uint64_t>(offsets[1] - offsets[0]);
    return head;
  }
  for (const uint64_t offset : offsets.subspan(1)) {
    const uint64_t end = offset - offsets.front();
    head.append(reinterpret_cast<const char*>(&end), size_t{1} << shape);
  }
  head.resize(RoundUp(head.size(), sizeof(uint64_t)));
  return head;
}

template <typename End>
uint64_t Load(const char* from) {
  End end;
  std::memcpy(&end, from, sizeof(End));
  return end;
}

// From where to where the values of a block lie in its bytes: `offset` is the start, `length` the end.
// `ends` has the end before `first`, if there is one, and those that follow.
template <typename End>
void LoadExtents(const char* ends, uint32_t first, std::span<const RowId> items,
                 std::span<ByteRange> extents) {
  const char* const of_first = first == 0 ? ends : ends + sizeof(End);
  for (size_t i = 0; i < items.size(); ++i) {
    const uint32_t item = items[i].value % kBlockRows;
    const char* const end = of_first + uint64_t{item - first} * sizeof(End);
    extents[i] = {.offset = item == 0 ? 0 : Load<End>(end - sizeof(End)), .length = Load<End>(end)};
  }
}

void ExtentsOfOneLength(uint64_t length, std::span<const RowId> items, std::span<ByteRange> extents) {
  for (size_t i = 0; i < items.size(); ++i) {
    const uint64_t start = items[i].value % kBlockRows * length;
    extents[i] = {.offset = start, .length = start + length};
  }
}

}  // namespace

Result<std::string> ReadWholeSection(const OpenSectionFile& file, SpcSection kind, uint32_t key) {
  ASSIGN_OR_RETURN(const SectionBytes section, file.Section(static_cast<uint32_t>(kind), key));
  std::string bytes(section.length(), '\0');
  RETURN_IF_ERROR(section.ReadTo(0, bytes));
  return bytes;
}

Status ByteBlocksWriter::Begin() {
  return file_.BeginSection(static_cast<uint32_t>(sections_.blocks), sections_.key, kLayout);
}

Status ByteBlocksWriter::Append(std::span<const uint64_t> offsets, std::string_view bytes) {
  if (size_ % kBlockRows != 0) {
    return InternalError("byte blocks: values behind a short block");
  }
  for (size_t first = 0; first + 1 < offsets.size(); first += kBlockRows) {
    const size_t count = std::min<size_t>(kBlockRows, offsets.size() - 1 - first);
    RETURN_IF_ERROR(AppendBlock(offsets.subspan(first, count + 1), bytes));
  }
  return Status::Ok();
}

Status ByteBlocksWriter::AppendBlock(std::span<const uint64_t> offsets, std::string_view bytes) {
  const uint64_t start = file_.section_length();
  const uint32_t shape = ShapeOf(offsets);
  entries_.push_back(start | shape);
  size_ += offsets.size() - 1;
  RETURN_IF_ERROR(file_.AppendToSection(EncodeHead(offsets, shape)));
  RETURN_IF_ERROR(file_.AppendToSection(bytes.substr(offsets.front(), offsets.back() - offsets.front())));
  const uint64_t length = file_.section_length();
  return file_.AppendToSection(std::string(RoundUp(length, kAlignment) - length, '\0'));
}

Status ByteBlocksWriter::Finish() {
  entries_.push_back(file_.section_length());
  RETURN_IF_ERROR(file_.EndSection());
  std::string directory;
  ByteWriter writer(directory);
  writer.Write<uint64_t>(size_);
  for (const uint64_t entry : entries_) {
    writer.Write<uint64_t>(entry);
  }
  return file_.AddSection(static_cast<uint32_t>(sections_.directory), sections_.key, directory);
}

Result<ByteBlocks> ByteBlocks::Open(const OpenSectionFile& file, const ByteBlocksSections& sections) {
  ByteBlocks blocks;
  blocks.sections_ = sections;
  ASSIGN_OR_RETURN(blocks.bytes_, file.Section(static_cast<uint32_t>(sections.blocks), sections.key));
  ASSIGN_OR_RETURN(const std::string bytes, ReadWholeSection(file, sections.directory, sections.key));
  ByteReader reader(bytes);
  const auto size = reader.Read<uint64_t>();
  if (!size.ok() || *size > UINT32_MAX ||
      reader.remaining() != ((*size + kBlockRows - 1) / kBlockRows + 1) * sizeof(uint64_t)) {
    return CorruptError("{}: section {}.{}: {} bytes do not fit the number of values", file.path(),
                        static_cast<uint32_t>(sections.directory), sections.key, bytes.size());
  }
  blocks.size_ = static_cast<uint32_t>(*size);
  blocks.entries_.resize(reader.remaining() / sizeof(uint64_t));
  std::memcpy(blocks.entries_.data(), bytes.data() + reader.position(), reader.remaining());
  RETURN_IF_ERROR(blocks.CheckDirectory());
  return blocks;
}

Status ByteBlocks::CheckDirectory() const {
  bool fits = entries_.back() == bytes_.length() && entries_.front() < kAlignment;
  for (uint32_t i = 0; fits && i + 1 < entries_.size(); ++i) {
    const uint32_t shape = entries_[i] % kAlignment;
    const uint64_t start = entries_[i] - shape;
    const uint64_t end = entries_[i + 1] / kAlignment * kAlignment;
    const uint32_t count = std::min(kBlockRows, size_ - i * kBlockRows);
    fits = shape <= kMaxShape && start <= end && end - start >= HeadSize(shape, count);
  }
  return fits ? Status::Ok()
              : CorruptError("{}: section {}.{}: a block is outside of section {}", bytes_.path(),
                             static_cast<uint32_t>(sections_.directory), sections_.key,
                             static_cast<uint32_t>(sections_.blocks));
}

ByteBlocks::Block ByteBlocks::BlockAt(uint32_t block) const {
  const uint32_t shape = entries_[block] % kAlignment;
  const uint64_t start = entries_[block] - shape;
  const uint32_t count = std::min(kBlockRows, size_ - block * kBlockRows);
  const uint64_t bytes = start + HeadSize(shape, count);
  return {.head = start,
          .bytes = bytes,
          .capacity = entries_[block + 1] / kAlignment * kAlignment - bytes,
          .shape = shape,
          .count = count};
}

Status ByteBlocks::Corrupt(uint32_t item, std::string_view what) const {
  return CorruptError("{}: section {}.{}: value {}: {}", bytes_.path(),
                      static_cast<uint32_t>(sections_.blocks), sections_.key, item, what);
}

// `head`: the ends from the one before the first item to the last item's, or the one length.
Status ByteBlocks::LocateInBlock(const Block& block, std::string_view head, std::span<const RowId> items,
                                 std::span<ByteRange> places) const {
  const uint32_t first = items.front().value % kBlockRows;
  switch (block.shape) {
    case kOneLength: {
      const uint64_t length = Load<uint64_t>(head.data());
      if (length > block.capacity / block.count) {
        return Corrupt(items.front().value, "values of one length end behind their block");
      }
      ExtentsOfOneLength(length, items, places);
      break;
    }
    case 1:
      LoadExtents<uint16_t>(head.data(), first, items, places);
      break;
    case 2:
      LoadExtents<uint32_t>(head.data(), first, items, places);
      break;
    default:
      LoadExtents<uint64_t>(head.data(), first, items, places);
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const uint64_t start = places[i].offset;
    const uint64_t end = places[i].length;
    if (end < start || end > block.capacity) {
      return Corrupt(items[i].value, "its end is not between its start and the end of its block");
    }
    places[i] = {.offset = block.bytes + start, .length = end - start};
  }
  return Status::Ok();
}

Status ByteBlocks::Locate(std::span<const RowId> items, std::span<ByteRange> places) const {
  std::vector<Block> blocks;
  std::vector<size_t> firsts;
  std::vector<ByteRange> ranges;
  for (size_t i = 0; i < items.size();) {
    const uint32_t number = items[i].value / kBlockRows;
    size_t next = i + 1;
    while (next < items.size() && items[next].value / kBlockRows == number) {
      ++next;
    }
    const Block block = BlockAt(number);
    ByteRange range{.offset = block.head, .length = sizeof(uint64_t)};
    if (block.shape != kOneLength) {
      const uint32_t first = items[i].value % kBlockRows;
      const uint32_t first_end = first == 0 ? 0 : first - 1;
      range.offset += uint64_t{first_end} << block.shape;
      range.length = uint64_t{items[next - 1].value % kBlockRows + 1 - first_end} << block.shape;
    }
    blocks.push_back(block);
    firsts.push_back(i);
    ranges.push_back(range);
    i = next;
  }
  firsts.push_back(items.size());
  std::vector<std::string_view> heads(ranges.size());
  ReadBuffer buffer;
  RETURN_IF_ERROR(bytes_.ReadBatch(ranges, heads, buffer));
  Status located;
  for (size_t i = 0; i < blocks.size() && located.ok(); ++i) {
    const size_t count = firsts[i + 1] - firsts[i];
    located =
        LocateInBlock(blocks[i], heads[i], items.subspan(firsts[i], count), places.subspan(firsts[i], count));
  }
  RETURN_IF_ERROR(CheckReadable());
  return located;
}

Status ByteBlocks::Read(std::span<const RowId> items, std::span<std::string_view> values,
                        ReadBuffer& buffer) const {
  if (items.empty()) {
    return Status::Ok();
  }
  if (items.back().value >= size_ || !std::is_sorted(items.begin(), items.end())) {
    return InternalError("{}: value {} of {} is asked for", bytes_.path(), items.back().value, size_);
  }
  std::vector<ByteRange> places(items.size());
  RETURN_IF_ERROR(Locate(items, places));
  // Values that lie one behind the other are one range.
  std::vector<ByteRange> ranges;
  std::vector<uint32_t> range_of(items.size());
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].length == 0) {
      continue;
    }
    const uint64_t end = ranges.empty() ? 0 : ranges.back().offset + ranges.back().length;
    const bool again = i > 0 && items[i] == items[i - 1];
    if (!again && !ranges.empty() && places[i].offset < end) {
      return Corrupt(items[i].value, "it starts before the end of another one");
    }
    if (!again && !ranges.empty() && places[i].offset == end) {
      ranges.back().length += places[i].length;
    } else if (!again) {
      ranges.push_back(places[i]);
    }
    range_of[i] = static_cast<uint32_t>(ranges.size() - 1);
  }
  std::vector<std::string_view> views(ranges.size());
  RETURN_IF_ERROR(bytes_.ReadBatch(ranges, views, buffer));
  for (size_t i = 0; i < places.size(); ++i) {
    values[i] = places[i].length == 0 ? std::string_view("")
                                      : views[range_of[i]].substr(
                                            places[i].offset - ranges[range_of[i]].offset, places[i].length);
  }
  return Status::Ok();
}

Status ByteBlocks::Visit(const Visitor& visitor) const {
  std::vector<RowId> items;
  std::vector<std::string_view> values;
  for (uint64_t first = 0; first < size_; first += kBlockRows) {
    items.resize(std::min<uint64_t>(kBlockRows, size_ - first));
    for (size_t i = 0; i < items.size(); ++i) {
      items[i] = RowId(static_cast<uint32_t>(first + i));
    }
    values.resize(items.size());
    ReadBuffer buffer;
    RETURN_IF_ERROR(Read(items, values, buffer));
    const Status visited = visitor(static_cast<uint32_t>(first), values);
    RETURN_IF_ERROR(CheckReadable());
    RETURN_IF_ERROR(visited);
  }
  return Status::Ok();
}

}  // namespace stoa::storage
