#include "storage/chunk/docstore_format.h"

#include <algorithm>
#include <cstring>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"

namespace stoa::storage {
namespace {

constexpr size_t kEntrySize = 16;

Result<DocstoreColumn> DecodeColumn(ByteReader& reader) {
  ASSIGN_OR_RETURN(const uint32_t id, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t type, reader.Read<uint32_t>());
  if (type > static_cast<uint32_t>(ColumnType::kFloatVectorArray) ||
      LaneOf(static_cast<ColumnType>(type)) != Lane::kBytes) {
    return CorruptError("column {}: {} is no type of stored texts", id, type);
  }
  return DocstoreColumn{.id = ColumnId(id), .type = static_cast<ColumnType>(type)};
}

Status CheckBlock(const DocstoreDirectory& directory, size_t block, const DocstoreInfo& info) {
  const DocstoreBlock& entry = directory.entries[block];
  const DocstoreBlock& next = directory.entries[block + 1];
  if (next.first_row <= entry.first_row || next.offset <= entry.offset) {
    return CorruptError("block {} has no rows or no bytes", block);
  }
  const uint64_t stored = directory.StoredSize(block);
  const uint64_t ends = uint64_t{directory.RowsOf(block)} * info.columns.size() * sizeof(uint32_t);
  if (entry.raw_size > kMaxBlockBytes || stored > entry.raw_size || ends > entry.raw_size ||
      (stored < entry.raw_size && entry.raw_size > LargestRawSize(info.codec, stored))) {
    return CorruptError("block {}: {} bytes cannot be of {} with {} rows", block, stored, entry.raw_size,
                        directory.RowsOf(block));
  }
  return Status::Ok();
}

}  // namespace

Result<DocstoreInfo> DocstoreInfo::Decode(std::string_view bytes) {
  DocstoreInfo info;
  ByteReader reader(bytes);
  ASSIGN_OR_RETURN(info.row_count, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t codec, reader.Read<uint32_t>());
  if (codec > static_cast<uint32_t>(BlockCodec::kZstd)) {
    return CorruptError("{} is no kind of compression", codec);
  }
  info.codec = static_cast<BlockCodec>(codec);
  while (!reader.done()) {
    ASSIGN_OR_RETURN(const DocstoreColumn column, DecodeColumn(reader));
    const auto twice = std::find_if(info.columns.begin(), info.columns.end(),
                                    [&](const DocstoreColumn& other) { return other.id == column.id; });
    if (twice != info.columns.end()) {
      return CorruptError("column {} is there twice", column.id.value);
    }
    info.columns.push_back(column);
  }
  return info;
}

std::string DocstoreInfo::Encode() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Write<uint32_t>(row_count);
  writer.Write<uint32_t>(static_cast<uint32_t>(codec));
  for (const DocstoreColumn& column : columns) {
    writer.Write<uint32_t>(column.id.value);
    writer.Write<uint32_t>(static_cast<uint32_t>(column.type));
  }
  return bytes;
}

Result<DocstoreDirectory> DocstoreDirectory::Decode(std::string_view bytes, const DocstoreInfo& info,
                                                    uint64_t block_bytes) {
  if (bytes.empty() || bytes.size() % kEntrySize != 0) {
    return CorruptError("{} bytes are no directory", bytes.size());
  }
  DocstoreDirectory directory;
  directory.entries.resize(bytes.size() / kEntrySize);
  ByteReader reader(bytes);
  for (DocstoreBlock& entry : directory.entries) {
    ASSIGN_OR_RETURN(entry.first_row, reader.Read<uint32_t>());
    ASSIGN_OR_RETURN(entry.raw_size, reader.Read<uint32_t>());
    ASSIGN_OR_RETURN(entry.offset, reader.Read<uint64_t>());
  }
  const DocstoreBlock& first = directory.entries.front();
  const DocstoreBlock& last = directory.entries.back();
  if (first.first_row != 0 || first.offset != 0 || last.first_row != info.row_count || last.raw_size != 0 ||
      last.offset != block_bytes) {
    return CorruptError("the directory does not fit {} rows in {} bytes", info.row_count, block_bytes);
  }
  for (size_t block = 0; block < directory.block_count(); ++block) {
    RETURN_IF_ERROR(CheckBlock(directory, block, info));
  }
  return directory;
}

std::string DocstoreDirectory::Encode() const {
  std::string bytes;
  bytes.reserve(entries.size() * kEntrySize);
  ByteWriter writer(bytes);
  for (const DocstoreBlock& entry : entries) {
    writer.Write<uint32_t>(entry.first_row);
    writer.Write<uint32_t>(entry.raw_size);
    writer.Write<uint64_t>(entry.offset);
  }
  return bytes;
}

size_t DocstoreDirectory::BlockOf(RowId row, size_t from) const {
  if (row.value < entries[from + 1].first_row) {
    return from;
  }
  const auto begin = entries.begin() + static_cast<ptrdiff_t>(from) + 1;
  const auto after =
      std::upper_bound(begin, entries.end(), row.value,
                       [](uint32_t value, const DocstoreBlock& block) { return value < block.first_row; });
  return static_cast<size_t>(after - entries.begin()) - 1;
}

uint64_t DocstoreBlockView::EndAt(uint64_t text) const {
  uint32_t end;
  std::memcpy(&end, bytes_.data() + text * sizeof(end), sizeof(end));
  return end;
}

Result<std::string_view> DocstoreBlockView::TextAt(uint32_t row, size_t column) const {
  const uint64_t text = uint64_t{row} * columns_ + column;
  if (text >= text_count_) {
    return InternalError("text {} of a block of {}", text, text_count_);
  }
  const uint64_t begin = text == 0 ? 0 : EndAt(text - 1);
  const uint64_t end = EndAt(text);
  if (begin > end || end > texts().size()) {
    return CorruptError("text {} of the block is from {} to {} of {}", text, begin, end, texts().size());
  }
  return texts().substr(begin, end - begin);
}

Status DocstoreBlockView::Check() const {
  uint64_t begin = 0;
  for (uint64_t text = 0; text < text_count_; ++text) {
    const uint64_t end = EndAt(text);
    if (end < begin) {
      return CorruptError("text {} of the block is from {} to {}", text, begin, end);
    }
    begin = end;
  }
  return begin == texts().size()
             ? Status::Ok()
             : CorruptError("the texts of the block have {} bytes, not {}", texts().size(), begin);
}

}  // namespace stoa::storage
