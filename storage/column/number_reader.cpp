#include "storage/column/number_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "storage/column/number_kernels_reference.h"

namespace stoa::storage {
namespace {

// From so many rows of a block on, unpacking all of it is cheaper than finding them one by one.
constexpr uint32_t kDensePacked = 96;
constexpr uint32_t kDenseOther = 32;
// Scattered rows whose words are loaded together.
constexpr uint32_t kScatteredRows = 256;
constexpr uint64_t kMemoryPage = 4096;
constexpr uint32_t kNearBlocks = 8;
// The payload of blocks that need none: packed numbers of width 0 are read from it.
constexpr char kNoPayload[kPackedSlack] = {};

struct AsInt {
  uint64_t flip;

  int64_t Of(const NumberBlock&, uint64_t key) const { return static_cast<int64_t>(key + flip); }
  void Decode(const NumberBlock& block, const char* payload, uint32_t rows, int64_t* values) const {
    DecodeKeys(block, payload, rows, flip, reinterpret_cast<uint64_t*>(values));
  }
};

struct AsFloat {
  explicit AsFloat(uint64_t) {}

  float Of(const NumberBlock& block, uint64_t key) const {
    return block.decimal == 0 ? FloatOfOrderedBits(static_cast<uint32_t>(key))
                              : FloatOfDecimalKey(key, block.decimal - 1u);
  }
  void Decode(const NumberBlock& block, const char* payload, uint32_t rows, float* values) const {
    uint64_t keys[kKeyRoom];
    DecodeKeys(block, payload, rows, 0, keys);
    std::fill(keys + rows, keys + (rows + 7) / 8 * 8, keys[0]);
    if (block.decimal == 0) {
      OrderedToFloats(keys, rows, values);
    } else {
      DecimalsToFloats(keys, rows, block.decimal - 1u, values);
    }
  }
};

}  // namespace

NumberReader::NumberReader(std::shared_ptr<const FileColumn> self, const NumberColumnData& column,
                           ColumnType type)
    : self_(std::move(self)), column_(column), type_(type), cursor_(column.payloads) {}

Status NumberReader::CheckLane(Lane lane) const {
  return LaneOf(type_) == lane && LaneOf(column_.info.type) == lane
             ? Status::Ok()
             : InternalError("number column read through the wrong lane");
}

Status NumberReader::ReadInts(std::span<const RowId> rows, std::span<int64_t> values) {
  RETURN_IF_ERROR(CheckLane(Lane::kInt));
  return Read<AsInt>(rows, values.data());
}

Status NumberReader::ReadFloats(std::span<const RowId> rows, std::span<float> values) {
  RETURN_IF_ERROR(CheckLane(Lane::kFloat));
  return Read<AsFloat>(rows, values.data());
}

Status NumberReader::ReadBytes(std::span<const RowId>, std::span<std::string_view>, ReadBuffer&) {
  return CheckLane(Lane::kBytes);
}

template <typename AsValue, typename Value>
Status NumberReader::Read(std::span<const RowId> rows, Value* values) {
  if (rows.empty()) {
    return Status::Ok();
  }
  if (rows.back().value >= column_.info.rows) {
    return InternalError("row {} of {} was asked for", rows.back().value, column_.info.rows);
  }
  SplitIntoGroups(rows);
  const Status status = column_.payloads.address() != nullptr ? ReadMapped<AsValue>(rows, values)
                                                              : ReadFromFile<AsValue>(rows, values);
  last_block_ = groups_.back().block;
  return status;
}

void NumberReader::SplitIntoGroups(std::span<const RowId> rows) {
  groups_.clear();
  const auto count = static_cast<uint32_t>(rows.size());
  for (uint32_t first = 0; first < count;) {
    RowGroup group{.block = rows[first].value / kBlockRows, .first = first, .last = first + 1};
    // Rows ascend: as many rows as the block has, from its first to its last, are most often all of them.
    while (group.last < count && rows[group.last].value / kBlockRows == group.block) {
      ++group.last;
    }
    groups_.push_back(group);
    first = group.last;
  }
}

bool NumberReader::IsDense(const RowGroup& group) const {
  return group.last - group.first >=
         (BeginsAnywhere(column_.blocks[group.block].encoding) ? kDensePacked : kDenseOther);
}

bool NumberReader::IsScattered(const RowGroup& group) const {
  return BeginsAnywhere(column_.blocks[group.block].encoding) && !IsDense(group);
}

template <typename AsValue, typename Value>
void NumberReader::ReadGroup(std::span<const RowId> rows, const RowGroup& group, const GroupBytes& bytes,
                             Value* values) {
  const NumberBlock& block = column_.blocks[group.block];
  const uint32_t block_rows = column_.RowsOf(group.block);
  const AsValue as_value{KeyFlip(column_.info.type)};
  if (!IsDense(group) || bytes.first_row != 0) {
    for (uint32_t i = group.first; i < group.last; ++i) {
      values[i] = as_value.Of(
          block, KeyAt(block, bytes.payload, block_rows, rows[i].value % kBlockRows, bytes.first_row));
    }
    return;
  }
  const bool whole =
      group.last - group.first == kBlockRows && rows[group.first].value % kBlockRows == 0 &&
      rows[group.last - 1].value % kBlockRows == kBlockRows - 1 &&
      std::adjacent_find(rows.begin() + group.first, rows.begin() + group.last) == rows.begin() + group.last;
  if (whole) {
    as_value.Decode(block, bytes.payload, kBlockRows, values + group.first);
    return;
  }
  Value decoded[kKeyRoom];
  as_value.Decode(block, bytes.payload, block_rows, decoded);
  for (uint32_t i = group.first; i < group.last; ++i) {
    values[i] = decoded[rows[i].value % kBlockRows];
  }
}

// The bytes of the section that a group needs; of a packed block only those from its first row to its last.
ByteRange NumberReader::RangeOf(std::span<const RowId> rows, const RowGroup& group, GroupBytes& bytes) const {
  const NumberBlock& block = column_.blocks[group.block];
  bytes.first_row = 0;
  if (block.encoding == BlockEncoding::kConstant) {
    return {};
  }
  if (!BeginsAnywhere(block.encoding) || IsDense(group)) {
    return {block.offset, PartsOf(block, column_.RowsOf(group.block)).size + kPackedSlack};
  }
  bytes.first_row = rows[group.first].value % kBlockRows / 8 * 8;
  const uint64_t begin = uint64_t{bytes.first_row} * block.width / 8;
  const uint64_t last = uint64_t{rows[group.last - 1].value % kBlockRows} * block.width / 8;
  return {block.offset + begin, last + sizeof(uint64_t) - begin};
}

// Where the value, or the code, of each row of a group is; returns the end.
const char** NumberReader::AddressesOf(std::span<const RowId> rows, const RowGroup& group,
                                       const char** addresses) const {
  const NumberBlock& block = column_.blocks[group.block];
  const char* payload = column_.payloads.address() + block.offset;
  for (uint32_t i = group.first; i < group.last; ++i) {
    *addresses++ = payload + uint64_t{rows[i].value % kBlockRows} * block.width / 8;
  }
  return addresses;
}

// Asks for what is not resident, checks what was not checked.
Status NumberReader::FetchMapped(std::span<const RowId> rows) {
  ranges_.clear();
  uint64_t end_page = 0;
  GroupBytes unused;
  for (const RowGroup& group : groups_) {
    const ByteRange range = RangeOf(rows, group, unused);
    if (range.length == 0) {
      continue;
    }
    if (!ranges_.empty() && range.offset / kMemoryPage <= end_page) {
      ranges_.back().length =
          std::max(ranges_.back().length, range.offset + range.length - ranges_.back().offset);
    } else {
      ranges_.push_back(range);
    }
    end_page = (ranges_.back().offset + ranges_.back().length - 1) / kMemoryPage;
  }
  column_.payloads.WillNeed(ranges_);
  for (const ByteRange& range : ranges_) {
    RETURN_IF_ERROR(column_.payloads.Verify(range.offset, range.length));
  }
  return Status::Ok();
}

// Scattered values are loaded by a loop that does nothing else: so many loads are under way together, and a
// miss of the cache (or of the page tables, which no prefetch instruction waits for) costs a tenth.
template <typename AsValue, typename Value>
Status NumberReader::ReadMapped(std::span<const RowId> rows, Value* values) {
  if (GoesOn()) {
    for (const RowGroup& group : groups_) {
      RETURN_IF_ERROR(Payload(group.block).status());
    }
  } else {
    RETURN_IF_ERROR(FetchMapped(rows));
  }
  const char* addresses[kScatteredRows + kDensePacked];
  uint64_t words[kScatteredRows + kDensePacked];
  const AsValue as_value{KeyFlip(column_.info.type)};
  for (size_t first = 0; first < groups_.size();) {
    size_t last = first;
    const char** end = addresses;
    for (; last < groups_.size() && end < addresses + kScatteredRows; ++last) {
      end = IsDense(groups_[last]) ? end : AddressesOf(rows, groups_[last], end);
    }
    const auto count = static_cast<size_t>(end - addresses);
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(&words[i], addresses[i], sizeof(words[i]));
    }
    const uint64_t* word = words;
    for (; first < last; ++first) {
      const RowGroup& group = groups_[first];
      const NumberBlock& block = column_.blocks[group.block];
      if (IsDense(group) || !BeginsAnywhere(block.encoding)) {
        ReadGroup<AsValue>(rows, group, {.payload = column_.payloads.address() + block.offset}, values);
        word += IsDense(group) ? 0 : group.last - group.first;
        continue;
      }
      for (uint32_t i = group.first; i < group.last; ++i, ++word) {
        values[i] = as_value.Of(block, KeyOfWord(block, *word, rows[i].value % kBlockRows));
      }
    }
  }
  return column_.payloads.CheckReadable();
}

// Whether the rows lie close together, as those of a scan, and among the ones of the last call or not far
// behind.
bool NumberReader::GoesOn() const {
  const RowGroup& first = groups_.front();
  const bool close = groups_.back().block - first.block < 2 * groups_.size();
  const bool follows =
      last_block_.has_value() && first.block >= *last_block_ && first.block <= *last_block_ + kNearBlocks;
  return close && (follows || IsDense(first));
}

template <typename AsValue, typename Value>
Status NumberReader::ReadFromFile(std::span<const RowId> rows, Value* values) {
  if (GoesOn()) {
    return ReadOn<AsValue>(rows, values);
  }
  ranges_.clear();
  group_bytes_.assign(groups_.size(), {});
  for (size_t i = 0; i < groups_.size(); ++i) {
    ranges_.push_back(RangeOf(rows, groups_[i], group_bytes_[i]));
  }
  views_.assign(groups_.size(), {});
  ReadBuffer buffer;
  RETURN_IF_ERROR(column_.payloads.ReadBatch(ranges_, views_, buffer));
  for (size_t i = 0; i < groups_.size(); ++i) {
    group_bytes_[i].payload = views_[i].data();
    ReadGroup<AsValue>(rows, groups_[i], group_bytes_[i], values);
  }
  return Status::Ok();
}

// As ReadMapped: scattered values are loaded first and made into numbers later.
template <typename AsValue, typename Value>
Status NumberReader::ReadOn(std::span<const RowId> rows, Value* values) {
  uint64_t words[kScatteredRows + kDensePacked];
  const AsValue as_value{KeyFlip(column_.info.type)};
  for (size_t first = 0; first < groups_.size();) {
    size_t last = first;
    uint64_t* end = words;
    for (; last < groups_.size() && end < words + kScatteredRows; ++last) {
      const RowGroup& group = groups_[last];
      if (IsScattered(group)) {
        RETURN_IF_ERROR(LoadWords(rows, group, end));
        end += group.last - group.first;
        continue;
      }
      ASSIGN_OR_RETURN(const std::string_view payload, Payload(group.block));
      ReadGroup<AsValue>(rows, group, {.payload = payload.data()}, values);
    }
    const uint64_t* word = words;
    for (; first < last; ++first) {
      const RowGroup& group = groups_[first];
      const NumberBlock& block = column_.blocks[group.block];
      for (uint32_t i = group.first; IsScattered(group) && i < group.last; ++i, ++word) {
        values[i] = as_value.Of(block, KeyOfWord(block, *word, rows[i].value % kBlockRows));
      }
    }
  }
  return Status::Ok();
}

// The 8 bytes each value of the group begins in, through the cursor.
Status NumberReader::LoadWords(std::span<const RowId> rows, const RowGroup& group, uint64_t* words) {
  const NumberBlock& block = column_.blocks[group.block];
  const uint64_t size = PartsOf(block, column_.RowsOf(group.block)).size;
  const auto place_of = [&](uint32_t i) { return uint64_t{rows[i].value % kBlockRows} * block.width / 8; };
  if (size > 0 && cursor_.Copies(block.offset, size)) {
    for (uint32_t i = group.first; i < group.last; ++i) {
      ASSIGN_OR_RETURN(const std::string_view bytes,
                       cursor_.At(block.offset + place_of(i), sizeof(uint64_t)));
      std::memcpy(words++, bytes.data(), sizeof(uint64_t));
    }
    return Status::Ok();
  }
  ASSIGN_OR_RETURN(const std::string_view payload, Payload(group.block));
  for (uint32_t i = group.first; i < group.last; ++i) {
    std::memcpy(words++, payload.data() + place_of(i), sizeof(uint64_t));
  }
  return Status::Ok();
}

// The whole payload of a block, verified. In file mode it lives until the next call.
Result<std::string_view> NumberReader::Payload(uint32_t block_index) {
  const NumberBlock& block = column_.blocks[block_index];
  const uint64_t size = PartsOf(block, column_.RowsOf(block_index)).size;
  if (size == 0) {
    return std::string_view(kNoPayload, sizeof(kNoPayload));
  }
  static_assert(kPackedSlack <= SectionCursor::kReadableBehind);
  return cursor_.At(block.offset, size);
}

Status NumberReader::Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) {
  if (block >= column_.blocks.size()) {
    return InternalError("block {} of {} was asked for", block, column_.blocks.size());
  }
  BlockBits passing{};
  ASSIGN_OR_RETURN(const Verdict verdict, Test(block, predicate, passing));
  if (verdict != Verdict::kSome) {
    if ((verdict == Verdict::kNone) != predicate.negated) {
      bits.fill(0);
    }
    return Status::Ok();
  }
  const uint64_t flip = predicate.negated ? ~uint64_t{0} : 0;
  for (size_t word = 0; word < bits.size(); ++word) {
    bits[word] &= passing[word] ^ flip;
  }
  return Status::Ok();
}

Result<NumberReader::Verdict> NumberReader::Test(uint32_t block_index, const ColumnPredicate& predicate,
                                                 BlockBits& passing) {
  const NumberBlock& block = column_.blocks[block_index];
  const uint32_t rows = column_.RowsOf(block_index);
  KeyRange range;
  std::optional<KeySet> set;
  if (const auto* floats = std::get_if<FloatRange>(&predicate.test)) {
    RETURN_IF_ERROR(CheckLane(Lane::kFloat));
    const auto keys = KeysOfFloats(*floats, block);
    if (!keys.has_value()) {
      return Verdict::kNone;
    }
    range = *keys;
  } else if (const auto* ints = std::get_if<IntRange>(&predicate.test)) {
    RETURN_IF_ERROR(CheckLane(Lane::kInt));
    const uint64_t flip = KeyFlip(column_.info.type);
    range = {static_cast<uint64_t>(ints->low) ^ flip, static_cast<uint64_t>(ints->high) ^ flip};
  } else if (const auto* members = std::get_if<IntSet>(&predicate.test)) {
    RETURN_IF_ERROR(CheckLane(Lane::kInt));
    set = KeySet(members->values, KeyFlip(column_.info.type)).Within(block.minimum, block.maximum);
    if (set->size() == 0) {
      return Verdict::kNone;
    }
    range = {(*set)[0], (*set)[set->size() - 1]};
    if (range.high - range.low == set->size() - 1) {  // neighbours: one range
      set.reset();
    }
  } else {
    return CheckLane(Lane::kBytes).ok() ? InternalError("number column") : CheckLane(Lane::kBytes);
  }
  range = {std::max(range.low, block.minimum), std::min(range.high, block.maximum)};
  if (range.low > range.high) {
    return Verdict::kNone;
  }
  if (!set.has_value() && range.low == block.minimum && range.high == block.maximum) {
    return Verdict::kAll;
  }
  ASSIGN_OR_RETURN(const std::string_view payload, Payload(block_index));
  if (set.has_value()) {
    SelectSet(block, payload.data(), rows, *set, passing);
  } else {
    SelectRange(block, payload.data(), rows, range, passing);
  }
  RETURN_IF_ERROR(column_.payloads.CheckReadable());
  return Verdict::kSome;
}

}  // namespace stoa::storage
