#include "storage/chunk/part_column_input.h"

#include <algorithm>
#include <bit>

namespace stoa::storage {
namespace {

constexpr size_t kPieceRows = 16384;
constexpr size_t kPieceBytes = 1u << 20;
constexpr uint32_t kWordRows = 64;

// Bits of the rows from 64 × index on that exist and are not deleted.
uint64_t LiveWord(const TablePart& part, uint32_t index) {
  const uint32_t left = part.row_count() - index * kWordRows;
  const uint64_t exist = left >= kWordRows ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
  return exist & ~part.deleted().Word(index);
}

uint32_t WordCount(const TablePart& part) {
  return part.row_count() / kWordRows + (part.row_count() % kWordRows != 0 ? 1 : 0);
}

uint64_t CountLive(const TablePart& part) {
  if (part.deleted().count() == 0) {
    return part.row_count();
  }
  uint64_t count = 0;
  for (uint32_t word = 0; word < WordCount(part); ++word) {
    count += static_cast<uint64_t>(std::popcount(LiveWord(part, word)));
  }
  return count;
}

}  // namespace

PartRows::PartRows(std::span<const std::shared_ptr<const TablePart>> parts)
    : parts_(parts.begin(), parts.end()) {
  for (const auto& part : parts_) {
    count_ += CountLive(*part);
  }
}

Status InputProgress::Advance(uint64_t values, uint64_t bytes) {
  done_ += values;
  if (cache_ != nullptr) {
    cache_->NoteRead(bytes);
  }
  if (report_) {
    report_(done_, total_);
  }
  return cancel_ != nullptr ? cancel_->Check() : Status::Ok();
}

Status PartColumnInput::Rewind() {
  part_ = 0;
  row_ = 0;
  reader_ = nullptr;
  position_ = 0;
  return Status::Ok();
}

Result<const ColumnValues*> PartColumnInput::Next() {
  ClearPiece();
  while (position_ < rows_.count() && !PieceIsFull()) {
    RETURN_IF_ERROR(ReadRun());
  }
  const uint64_t advance = position_ > reported_ ? position_ - reported_ : 0;
  reported_ += advance;
  if (progress_ != nullptr) {
    const uint64_t bytes =
        piece_.ints.size() * sizeof(int64_t) + piece_.floats.size() * sizeof(float) + piece_.bytes.size();
    RETURN_IF_ERROR(progress_->Advance(advance, bytes));
  }
  return piece_.size() > 0 ? &piece_ : nullptr;
}

void PartColumnInput::ClearPiece() {
  piece_.column = column_.id;
  piece_.type = column_.type;
  piece_.ints.clear();
  piece_.floats.clear();
  piece_.offsets.assign(1, 0);
  piece_.bytes.clear();
}

bool PartColumnInput::PieceIsFull() const {
  const size_t rows = piece_.size();
  return rows > 0 && rows % kBlockRows == 0 && (rows >= kPieceRows || piece_.bytes.size() >= kPieceBytes);
}

// Rows of one part, up to the next place where a piece may end.
Status PartColumnInput::ReadRun() {
  if (part_ == rows_.parts().size()) {
    return InternalError("the parts of a chunk have fewer rows than were counted");
  }
  const TablePart& part = *rows_.parts()[part_];
  const size_t rows = piece_.size();
  const bool bytes = LaneOf(column_.type) == Lane::kBytes;
  TakeRows(part, bytes ? kBlockRows - rows % kBlockRows : kPieceRows - rows);
  if (!run_.empty()) {
    if (reader_ == nullptr) {
      ASSIGN_OR_RETURN(reader_, part.Column(column_));
    }
    RETURN_IF_ERROR(AppendValues());
    position_ += run_.size();
  }
  if (row_ == part.row_count()) {
    ++part_;
    row_ = 0;
    reader_ = nullptr;
  }
  return Status::Ok();
}

void PartColumnInput::TakeRows(const TablePart& part, size_t most) {
  run_.clear();
  if (part.deleted().count() == 0) {
    const auto count = static_cast<uint32_t>(std::min<size_t>(most, part.row_count() - row_));
    for (uint32_t i = 0; i < count; ++i) {
      run_.emplace_back(row_ + i);
    }
    row_ += count;
    return;
  }
  while (row_ < part.row_count() && run_.size() < most) {
    const uint32_t index = row_ / kWordRows;
    const uint64_t live = LiveWord(part, index) >> (row_ % kWordRows);
    if (live == 0) {
      const uint32_t left = part.row_count() - index * kWordRows;
      row_ = left > kWordRows ? (index + 1) * kWordRows : part.row_count();
      continue;
    }
    row_ += static_cast<uint32_t>(std::countr_zero(live));
    run_.emplace_back(row_);
    ++row_;
  }
}

Status PartColumnInput::AppendValues() {
  switch (LaneOf(column_.type)) {
    case Lane::kInt: {
      const size_t from = piece_.ints.size();
      piece_.ints.resize(from + run_.size());
      return reader_->ReadInts(run_, std::span(piece_.ints).subspan(from));
    }
    case Lane::kFloat: {
      const size_t from = piece_.floats.size();
      piece_.floats.resize(from + run_.size());
      return reader_->ReadFloats(run_, std::span(piece_.floats).subspan(from));
    }
    case Lane::kBytes:
      break;
  }
  texts_.resize(run_.size());
  buffer_.Clear();
  RETURN_IF_ERROR(reader_->ReadBytes(run_, texts_, buffer_));
  for (const std::string_view text : texts_) {
    piece_.AppendBytes(text);
  }
  return Status::Ok();
}

}  // namespace stoa::storage
