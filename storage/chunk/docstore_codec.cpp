#include "storage/chunk/docstore_codec.h"

#include <lz4.h>
#include <lz4hc.h>
#include <zstd.h>

#include <algorithm>

namespace stoa::storage {
namespace {

using Codec = DocstoreOptions::Codec;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

Status DecompressLz4(std::string_view stored, std::string& raw) {
  const int size = LZ4_decompress_safe(stored.data(), raw.data(), static_cast<int>(stored.size()),
                                       static_cast<int>(raw.size()));
  return size >= 0 && static_cast<size_t>(size) == raw.size()
             ? Status::Ok()
             : CorruptError("the lz4 block is not one of {} bytes", raw.size());
}

Status DecompressZstd(std::string_view stored, std::string& raw) {
  const size_t size = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  return ZSTD_isError(size) == 0 && size == raw.size()
             ? Status::Ok()
             : CorruptError("the zstd block is not one of {} bytes", raw.size());
}

}  // namespace

struct BlockCompressor::State {
  explicit State(const DocstoreOptions& given) : options(given) {
    if (options.codec == Codec::kLz4hc) {
      lz4hc = std::make_unique<char[]>(static_cast<size_t>(LZ4_sizeofStateHC()));
    } else if (options.codec == Codec::kZstd) {
      zstd.reset(ZSTD_createCCtx());
    }
  }

  // The number of bytes at the front of `out`; 0: it does not fit.
  size_t Compress(std::string_view raw) {
    const int size = static_cast<int>(raw.size());
    const int room = static_cast<int>(out.size());
    switch (options.codec) {
      case Codec::kNone:
        return 0;
      case Codec::kLz4:
        return static_cast<size_t>(LZ4_compress_default(raw.data(), out.data(), size, room));
      case Codec::kLz4hc:
        return static_cast<size_t>(LZ4_compress_HC_extStateHC(
            lz4hc.get(), raw.data(), out.data(), size, room, std::clamp(options.level, 1, LZ4HC_CLEVEL_MAX)));
      case Codec::kZstd:
        break;
    }
    const size_t written = ZSTD_compressCCtx(zstd.get(), out.data(), out.size(), raw.data(), raw.size(),
                                             std::clamp(options.level, 1, 19));
    return ZSTD_isError(written) != 0 ? 0 : written;
  }

  DocstoreOptions options;
  std::unique_ptr<char[]> lz4hc;
  std::unique_ptr<ZSTD_CCtx, FreeContext> zstd;
  std::string out;
};

BlockCompressor::BlockCompressor(const DocstoreOptions& options) : state_(std::make_unique<State>(options)) {}
BlockCompressor::~BlockCompressor() = default;

BlockCodec BlockCompressor::codec() const {
  switch (state_->options.codec) {
    case Codec::kNone:
      return BlockCodec::kNone;
    case Codec::kLz4:
    case Codec::kLz4hc:
      return BlockCodec::kLz4;
    case Codec::kZstd:
      break;
  }
  return BlockCodec::kZstd;
}

Result<std::string_view> BlockCompressor::Compress(std::string_view raw) {
  if (raw.size() > kMaxBlockBytes) {
    return LimitError("a block of texts has {} bytes, the limit is {}", raw.size(), kMaxBlockBytes);
  }
  if (raw.size() <= 1 || state_->options.codec == Codec::kNone) {
    return raw;
  }
  state_->out.resize(raw.size() - 1);  // more does not pay
  const size_t size = state_->Compress(raw);
  return size == 0 ? raw : std::string_view(state_->out).substr(0, size);
}

uint64_t LargestRawSize(BlockCodec codec, uint64_t stored) {
  switch (codec) {
    case BlockCodec::kNone:
      return stored;
    case BlockCodec::kLz4:  // a byte of a length stands for at most 255 bytes
      return std::min(kMaxBlockBytes, (std::min(stored, kMaxBlockBytes) + 1) * 255);
    case BlockCodec::kZstd:  // four bytes of a block of one repeated byte stand for at most 128 KiB
      break;
  }
  return std::min(kMaxBlockBytes, (std::min(stored, kMaxBlockBytes) + 1) * (32u << 10));
}

Result<std::string> DecompressBlock(BlockCodec codec, std::string_view stored, uint64_t raw_size) {
  if (stored.size() == raw_size) {
    return std::string(stored);
  }
  if (codec == BlockCodec::kNone || stored.size() > raw_size ||
      raw_size > LargestRawSize(codec, stored.size())) {
    return CorruptError("{} bytes are no block of {}", stored.size(), raw_size);
  }
  if (codec == BlockCodec::kZstd && ZSTD_getFrameContentSize(stored.data(), stored.size()) != raw_size) {
    return CorruptError("the zstd block does not say that it has {} bytes", raw_size);
  }
  std::string raw(raw_size, '\0');
  RETURN_IF_ERROR(codec == BlockCodec::kLz4 ? DecompressLz4(stored, raw) : DecompressZstd(stored, raw));
  return raw;
}

}  // namespace stoa::storage
