#include "daemon/mysql/compression.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "daemon/mysql/error_packet.h"
#include "daemon/mysql/protocol.h"
#include "daemon/mysql/wire.h"

namespace stoa::daemon {
namespace {

constexpr size_t kFrameHeader = 7;
constexpr size_t kWorthCompressing = 50;
constexpr size_t kMaxFrame = 1 << 20;  // of our own frames: bounds what a client must hold at once
constexpr int kLevel = 1;

uint32_t Read3(const char* bytes) {
  uint32_t value = 0;
  std::memcpy(&value, bytes, 3);
  return value;
}

// Memory grows with what is inflated, not with `length`.
Status Inflate(std::string_view bytes, size_t length, std::string& out) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) {
    return InternalError("zlib: no memory to inflate");
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(bytes.size());
  size_t written = 0;
  int result = Z_OK;
  while (result == Z_OK && written < length) {
    const size_t step = std::min<size_t>(length - written, 64 << 10);
    const size_t at = out.size();
    out.resize(at + step);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + at);
    stream.avail_out = static_cast<uInt>(step);
    result = inflate(&stream, Z_NO_FLUSH);
    out.resize(at + step - stream.avail_out);
    written += step - stream.avail_out;
  }
  if (result == Z_OK) {  // the end is only seen by asking for more
    Bytef more = 0;
    stream.next_out = &more;
    stream.avail_out = sizeof(more);
    result = inflate(&stream, Z_NO_FLUSH);
    written += sizeof(more) - stream.avail_out;
  }
  inflateEnd(&stream);
  if (written != length || result != Z_STREAM_END) {
    return MalformedPacket("a compressed frame does not have the size it states");
  }
  return Status::Ok();
}

}  // namespace

void CompressedReader::Append(std::string_view bytes) {
  buffer_.erase(0, start_);
  start_ = 0;
  buffer_.append(bytes);
}

Result<bool> CompressedReader::Next(std::string& out) {
  const size_t available = buffer_.size() - start_;
  if (available < kFrameHeader) {
    return false;
  }
  const char* header = buffer_.data() + start_;
  const size_t length = Read3(header);
  const size_t inflated = Read3(header + kPacketHeader);
  if (available < kFrameHeader + length) {
    return false;
  }
  sequence_ = static_cast<uint8_t>(header[3]);
  const std::string_view body(header + kFrameHeader, length);
  if (inflated == 0) {
    out.append(body);
  } else {
    RETURN_IF_ERROR(Inflate(body, inflated, out));
  }
  start_ += kFrameHeader + length;
  return true;
}

Status AppendCompressed(std::string_view bytes, uint8_t& sequence, std::string& out) {
  while (!bytes.empty()) {
    const std::string_view frame = bytes.substr(0, kMaxFrame);
    bytes.remove_prefix(frame.size());
    const size_t start = out.size();
    out.append(kFrameHeader, '\0');
    uLongf length = 0;
    if (frame.size() >= kWorthCompressing) {
      length = compressBound(static_cast<uLong>(frame.size()));
      out.resize(start + kFrameHeader + length);
      const int result =
          compress2(reinterpret_cast<Bytef*>(out.data() + start + kFrameHeader), &length,
                    reinterpret_cast<const Bytef*>(frame.data()), static_cast<uLong>(frame.size()), kLevel);
      if (result != Z_OK) {
        return InternalError("zlib: cannot deflate ({})", result);
      }
    }
    const bool stored = length == 0 || length >= frame.size();
    out.resize(start + kFrameHeader + (stored ? 0 : length));
    if (stored) {
      out.append(frame);
    }
    const auto size = static_cast<uint32_t>(out.size() - start - kFrameHeader);
    const auto inflated = static_cast<uint32_t>(stored ? 0 : frame.size());
    std::memcpy(out.data() + start, &size, 3);
    out[start + 3] = static_cast<char>(sequence++);
    std::memcpy(out.data() + start + 4, &inflated, 3);
  }
  return Status::Ok();
}

}  // namespace stoa::daemon
