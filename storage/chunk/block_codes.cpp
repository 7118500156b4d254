#include "storage/chunk/block_codes.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "storage/base/check.h"

namespace stoa::storage {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr size_t kVectorsAtOnce = 64;

}  // namespace

void BlockCodes::Free::operator()(uint8_t* bytes) const { ::operator delete[](bytes, kAlignment); }

// Zeros: the codes of rows without a vector are read together with others.
std::unique_ptr<uint8_t[], BlockCodes::Free> BlockCodes::Allocate(size_t bytes) {
  auto* memory = static_cast<uint8_t*>(::operator new[](bytes, kAlignment));
  std::memset(memory, 0, bytes);
  return std::unique_ptr<uint8_t[], Free>(memory);
}

BlockCodes::BlockCodes(const CodeRecipe& recipe, uint32_t capacity)
    : recipe_(recipe),
      stride_(recipe.quantizer->code_bytes()),
      size_(uint64_t{capacity} * stride_),
      codes_(Allocate(size_)) {
  recipe_.bytes->fetch_add(size_, std::memory_order_relaxed);
}

BlockCodes::BlockCodes(const BlockCodes& other, uint32_t capacity) : BlockCodes(other.recipe_, capacity) {
  const uint32_t rows = other.rows();
  STOA_DCHECK(uint64_t{rows} * stride_ <= size_);
  std::memcpy(codes_.get(), other.codes_.get(), size_t{rows} * stride_);
  const BlockBits present = other.Present(rows);
  for (size_t word = 0; word < present.size(); ++word) {
    present_[word].store(present[word], std::memory_order_relaxed);
  }
  rows_.store(rows, std::memory_order_relaxed);
}

BlockCodes::~BlockCodes() { recipe_.bytes->fetch_sub(size_, std::memory_order_relaxed); }

BlockBits BlockCodes::Present(uint32_t end) const {
  BlockBits bits{};
  for (uint32_t word = 0; word * 64 < end; ++word) {
    const uint32_t left = end - word * 64;
    const uint64_t below = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    bits[word] = present_[word].load(std::memory_order_relaxed) & below;
  }
  return bits;
}

void BlockCodes::Extend(const BytesCell* cells, uint32_t end) {
  const uint32_t rows = rows_.load(std::memory_order_relaxed);
  if (end > rows) {
    Encode(cells, rows, end);
    rows_.store(end, std::memory_order_release);
  }
}

void BlockCodes::Renew(const BytesCell* cells, uint32_t row) {
  present_[row / 64].fetch_and(~(uint64_t{1} << (row % 64)), std::memory_order_relaxed);
  Encode(cells, row, row + 1);
}

// Runs of rows with a vector, a few at a time.
void BlockCodes::Encode(const BytesCell* cells, uint32_t begin, uint32_t end) {
  const float* vectors[kVectorsAtOnce];
  uint32_t row = begin;
  while (row < end) {
    size_t count = 0;
    const uint32_t first = row;
    while (row < end && count < kVectorsAtOnce && HasVector(cells[row])) {
      vectors[count++] = reinterpret_cast<const float*>(cells[row].data);
      present_[row / 64].fetch_or(uint64_t{1} << (row % 64), std::memory_order_relaxed);
      ++row;
    }
    if (count == 0) {
      ++row;
      continue;
    }
    recipe_.quantizer->EncodeVectors(std::span(vectors, count), codes_.get() + size_t{first} * stride_,
                                     stride_);
  }
}

std::shared_ptr<BlockCodes> BlockCodeCell::Load() const {
  MutexLock lock(mutex_);
  return codes_;
}

bool BlockCodeCell::Has(const VectorQuantizer& quantizer, uint32_t rows) const {
  const std::shared_ptr<BlockCodes> codes = Load();
  return IsOf(codes, quantizer) && codes->rows() >= rows;
}

std::shared_ptr<const BlockCodes> BlockCodeCell::Make(const CodeRecipe& recipe, const ColumnBlock& block,
                                                      uint32_t rows) {
  std::shared_ptr<BlockCodes> codes = Load();
  if (IsOf(codes, *recipe.quantizer) && codes->rows() >= rows) {
    return codes;
  }
  MutexLock making(making_);
  codes = Load();
  const bool is_new = !IsOf(codes, *recipe.quantizer);
  if (is_new) {
    codes = std::make_shared<BlockCodes>(recipe, block.capacity());
  }
  codes->Extend(block.values<BytesCell>(), rows);
  if (is_new) {
    MutexLock lock(mutex_);
    codes_ = codes;
  }
  return codes;
}

}  // namespace stoa::storage
