#include "storage/chunk/document_index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "storage/base/byte_reader.h"
#include "storage/chunk/block_filter.h"
#include "storage/chunk/document_index_format.h"

namespace stoa::storage {
namespace {

// The last of `count` ascending values that is not above `wanted`; the first one is not. Looks around `guess`
// first: ids of a chunk are mostly spread evenly, and then the guess is near.
template <typename ValueAt>
uint32_t LastNotAbove(uint32_t count, uint64_t wanted, uint32_t guess, const ValueAt& value_at) {
  uint32_t low = 0;       // not above
  uint32_t high = count;  // above, or the end
  uint32_t step = 1;
  guess = std::min(guess, count - 1);
  if (value_at(guess) <= wanted) {
    low = guess;
    while (step < high - low) {
      if (value_at(low + step) > wanted) {
        high = low + step;
        break;
      }
      low += step;
      step *= 2;
    }
  } else {
    high = guess;
    while (step < high - low) {
      if (value_at(high - step) <= wanted) {
        low = high - step;
        break;
      }
      high -= step;
      step *= 2;
    }
  }
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (value_at(middle) <= wanted ? low : high) = middle;
  }
  return low;
}

// Where `wanted` of [0, range) is among `count` values spread evenly over it.
uint32_t GuessPlace(uint64_t wanted, double range, uint32_t count) {
  const double guess = static_cast<double>(wanted) / range * count;
  return guess < count ? static_cast<uint32_t>(guess) : count - 1;
}

// The directory of blocks is in memory and checked when the file is opened; ids, rows and filter are mapped
// and checked page by page when a lookup comes by.
class MappedDocumentIndex : public DocumentIndex {
 public:
  explicit MappedDocumentIndex(std::shared_ptr<const OpenSectionFile> file) : file_(std::move(file)) {}

  Status Load() {
    RETURN_IF_ERROR(LoadInfo());
    ASSIGN_OR_RETURN(ids_, file_->Section(static_cast<uint32_t>(SptSection::kIds), 0));
    RETURN_IF_ERROR(LoadBlocks());
    if (rows_ == 0 || max_id_ - min_id_ == rows_ - 1) {
      return Status::Ok();
    }
    ASSIGN_OR_RETURN(filter_, file_->Section(static_cast<uint32_t>(SptSection::kFilter), 0));
    lines_ = FilterLines(rows_);
    if (filter_.length() != lines_ * kFilterLine) {
      return CorruptError("{}: a filter of {} bytes for {} rows", file_->path(), filter_.length(), rows_);
    }
    filter_.Advise(AccessPattern::kRandom);
    return Status::Ok();
  }

  uint32_t row_count() const override { return rows_; }
  DocId min_id() const override { return DocId(min_id_); }
  DocId max_id() const override { return DocId(max_id_); }

  Result<std::optional<RowId>> Find(DocId id) const override {
    if (id.value < min_id_ || id.value > max_id_) {
      return std::optional<RowId>();
    }
    if (lines_ > 0) {
      const uint64_t hash = FilterHash(id);
      const uint64_t offset = FilterOffset(hash, lines_);
      RETURN_IF_ERROR(filter_.Verify(offset, kFilterLine));
      const bool may_contain = MayContain(hash, filter_.address() + offset);
      // A line that cannot be read is zeros and would hide the document.
      if (!may_contain) {
        RETURN_IF_ERROR(filter_.CheckReadable());
        return std::optional<RowId>();
      }
    }
    const auto blocks = static_cast<uint32_t>(firsts_.size());
    const uint32_t guess = GuessPlace(id.value - min_id_, RangeOf(min_id_, max_id_), blocks);
    return FindInBlock(LastNotAbove(blocks, id.value, guess, [&](uint32_t i) { return firsts_[i]; }),
                       id.value);
  }

  uint64_t ram_bytes() const override {
    return sizeof(*this) + firsts_.capacity() * sizeof(uint64_t) + places_.capacity() * sizeof(Place);
  }
  const OpenSectionFile& file() const override { return *file_; }

  Status Check(ColumnInput& ids) const override {
    RETURN_IF_ERROR(file_->CheckAll(true));
    if (ids.row_count() != rows_) {
      return CorruptError("{}: {} rows, the chunk has {}", file_->path(), rows_, ids.row_count());
    }
    RETURN_IF_ERROR(ids.Rewind());
    uint64_t row = 0;
    for (;;) {
      ASSIGN_OR_RETURN(const ColumnValues* values, ids.Next());
      if (values == nullptr) {
        break;
      }
      for (const int64_t value : values->ints) {
        RETURN_IF_ERROR(CheckId(static_cast<uint64_t>(value), row));
        ++row;
      }
    }
    return row == rows_ ? Status::Ok() : CorruptError("{}: {} ids for {} rows", file_->path(), row, rows_);
  }

 private:
  struct Place {
    uint64_t offset = 0;
    uint32_t row = 0;
    uint8_t id_width = 0;
    uint8_t row_width = 0;
  };

  Status LoadInfo() {
    ASSIGN_OR_RETURN(const SectionBytes info, file_->Section(static_cast<uint32_t>(SptSection::kInfo), 0));
    ReadBuffer buffer;
    ASSIGN_OR_RETURN(const std::string_view bytes, info.Read(0, info.length(), buffer));
    ByteReader reader(bytes);
    ASSIGN_OR_RETURN(const uint64_t rows, reader.Read<uint64_t>());
    ASSIGN_OR_RETURN(min_id_, reader.Read<uint64_t>());
    ASSIGN_OR_RETURN(max_id_, reader.Read<uint64_t>());
    RETURN_IF_ERROR(info.CheckReadable());
    const bool has_ids = rows > 0 ? max_id_ >= min_id_ && max_id_ - min_id_ >= rows - 1 : max_id_ < min_id_;
    if (!reader.done() || rows > UINT32_MAX || !has_ids) {
      return CorruptError("{}: {} rows with ids {} to {}", file_->path(), rows, min_id_, max_id_);
    }
    rows_ = static_cast<uint32_t>(rows);
    return Status::Ok();
  }

  Status LoadBlocks() {
    ASSIGN_OR_RETURN(const SectionBytes blocks,
                     file_->Section(static_cast<uint32_t>(SptSection::kBlocks), 0));
    const uint64_t count = (uint64_t{rows_} + kIdBlockRows - 1) / kIdBlockRows;
    if (blocks.length() != count * kIdBlockSize) {
      return CorruptError("{}: a directory of {} bytes for {} blocks", file_->path(), blocks.length(), count);
    }
    ReadBuffer buffer;
    ASSIGN_OR_RETURN(const std::string_view bytes, blocks.Read(0, blocks.length(), buffer));
    firsts_.reserve(count);
    places_.reserve(count);
    ByteReader reader(bytes);
    while (!reader.done()) {
      RETURN_IF_ERROR(LoadBlock(reader));
    }
    RETURN_IF_ERROR(blocks.CheckReadable());
    if (rows_ > 0 && (firsts_.front() != min_id_ || firsts_.back() > max_id_)) {
      return CorruptError("{}: blocks from id {} to {}, not within {} and {}", file_->path(), firsts_.front(),
                          firsts_.back(), min_id_, max_id_);
    }
    return Status::Ok();
  }

  Status LoadBlock(ByteReader& reader) {
    const size_t block = firsts_.size();
    Place place;
    ASSIGN_OR_RETURN(const uint64_t first, reader.Read<uint64_t>());
    ASSIGN_OR_RETURN(place.offset, reader.Read<uint64_t>());
    ASSIGN_OR_RETURN(place.row, reader.Read<uint32_t>());
    ASSIGN_OR_RETURN(place.id_width, reader.Read<uint8_t>());
    ASSIGN_OR_RETURN(place.row_width, reader.Read<uint8_t>());
    ASSIGN_OR_RETURN(const uint16_t reserved, reader.Read<uint16_t>());
    const bool widths = (place.id_width <= kWidestPacked || place.id_width == 64) && place.row_width <= 32;
    if (!widths || reserved != 0 || (block > 0 && first <= firsts_.back())) {
      return CorruptError("{}: block {} of the directory: id {}, widths {} and {}", file_->path(), block,
                          first, place.id_width, place.row_width);
    }
    firsts_.push_back(first);
    places_.push_back(place);
    if (place.offset > ids_.length() || PackedLength(block) > ids_.length() - place.offset) {
      return CorruptError("{}: block {} crosses the end of the ids (offset {})", file_->path(), block,
                          place.offset);
    }
    return Status::Ok();
  }

  static double RangeOf(uint64_t least, uint64_t greatest) {
    return static_cast<double>(greatest - least) + 1;
  }
  uint32_t RowsOf(size_t block) const {
    return static_cast<uint32_t>(std::min<uint64_t>(kIdBlockRows, rows_ - uint64_t{block} * kIdBlockRows));
  }
  uint64_t PackedLength(size_t block) const {
    return PackedBytes(RowsOf(block), places_[block].id_width) +
           PackedBytes(RowsOf(block), places_[block].row_width);
  }

  Result<std::optional<RowId>> FindInBlock(size_t block, uint64_t id) const {
    const Place& place = places_[block];
    const uint32_t count = RowsOf(block);
    const uint64_t wanted = id - firsts_[block];
    RETURN_IF_ERROR(ids_.Verify(place.offset, PackedLength(block)));
    const char* packed = ids_.address() + place.offset;
    uint32_t at = 0;
    if (place.id_width == 0) {
      at = static_cast<uint32_t>(std::min<uint64_t>(wanted, count));
    } else {
      const uint64_t last = block + 1 < firsts_.size() ? firsts_[block + 1] - 1 : max_id_;
      at = LastNotAbove(count, wanted, GuessPlace(wanted, RangeOf(firsts_[block], last), count),
                        [&](uint32_t i) { return PackedAt(packed, place.id_width, i); });
    }
    const bool found = at < count && PackedAt(packed, place.id_width, at) == wanted;
    const uint64_t row =
        place.row + (found ? PackedAt(packed + PackedBytes(count, place.id_width), place.row_width, at) : 0);
    RETURN_IF_ERROR(ids_.CheckReadable());
    if (!found) {
      return std::optional<RowId>();
    }
    if (row >= rows_) {
      return CorruptError("{}: document {} is in row {} of {} (block {}, offset {})", file_->path(), id, row,
                          rows_, block, place.offset);
    }
    return std::optional(RowId(static_cast<uint32_t>(row)));
  }

  Status CheckId(uint64_t id, uint64_t row) const {
    ASSIGN_OR_RETURN(const std::optional<RowId> found, Find(DocId(id)));
    if (!found.has_value()) {
      return CorruptError("{}: document {} of row {} is missing", file_->path(), id, row);
    }
    return found->value == row
               ? Status::Ok()
               : CorruptError("{}: document {} of row {} is in row {}", file_->path(), id, row, found->value);
  }

  std::shared_ptr<const OpenSectionFile> file_;
  SectionBytes ids_;
  SectionBytes filter_;
  uint64_t lines_ = 0;  // of the filter; 0: there is none
  uint32_t rows_ = 0;
  uint64_t min_id_ = UINT64_MAX;
  uint64_t max_id_ = 0;
  std::vector<uint64_t> firsts_;  // least id of each block
  std::vector<Place> places_;     // parallel
};

}  // namespace

Result<std::shared_ptr<const DocumentIndex>> DocumentIndex::Open(Env& env, const std::string& path,
                                                                 ChunkId chunk) {
  ASSIGN_OR_RETURN(auto file, OpenSectionFile::Open(env, path, kDocumentIndexKind, AccessMode::kMmap));
  if (file->owner() != chunk.value) {
    return CorruptError("{}: is of chunk {}, not {}", path, file->owner(), chunk.value);
  }
  auto index = std::make_shared<MappedDocumentIndex>(std::move(file));
  RETURN_IF_ERROR(index->Load());
  return std::shared_ptr<const DocumentIndex>(std::move(index));
}

}  // namespace stoa::storage
