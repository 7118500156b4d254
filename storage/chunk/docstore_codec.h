#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "storage/base/result.h"
#include "storage/chunk/docstore.h"

namespace stoa::storage {

// How the blocks of a docstore that are smaller than their texts were compressed; the number in the file.
enum class BlockCodec : uint32_t { kNone = 0, kLz4 = 1, kZstd = 2 };

inline constexpr uint64_t kMaxBlockBytes = uint64_t{1} << 30;  // of a block before compression

// Compresses blocks one after the other. One thread at a time.
class BlockCompressor {
 public:
  explicit BlockCompressor(const DocstoreOptions& options);
  ~BlockCompressor();
  BlockCompressor(const BlockCompressor&) = delete;
  BlockCompressor& operator=(const BlockCompressor&) = delete;

  BlockCodec codec() const;
  // `raw` itself when compressing does not make it smaller. The bytes live until the next call.
  Result<std::string_view> Compress(std::string_view raw);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The most bytes that `stored` compressed bytes can be of.
uint64_t LargestRawSize(BlockCodec codec, uint64_t stored);

// Exactly `raw_size` bytes (at most kMaxBlockBytes), or kCorrupt. A block of `raw_size` bytes is stored as it
// is. Nothing of `stored` is trusted.
Result<std::string> DecompressBlock(BlockCodec codec, std::string_view stored, uint64_t raw_size);

}  // namespace stoa::storage
