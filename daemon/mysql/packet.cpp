#include "daemon/mysql/packet.h"

#include <algorithm>
#include <cstring>

#include "daemon/mysql/protocol.h"

namespace stoa::daemon {
namespace {

size_t PartLength(const char* header) {
  uint32_t length = 0;
  std::memcpy(&length, header, 3);
  return length;
}

}  // namespace

char* PacketReader::Reserve(size_t count) {
  if (start_ == used_) {
    start_ = used_ = 0;
  }
  if (used_ + count > buffer_.size() && start_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + start_, used_ - start_);
    used_ -= start_;
    start_ = 0;
  }
  if (used_ + count > buffer_.size()) {
    buffer_.resize(std::max(used_ + count, buffer_.size() + buffer_.size() / 2));
  }
  return buffer_.data() + used_;
}

void PacketReader::Commit(size_t count) { used_ += count; }

void PacketReader::Append(std::string_view bytes) {
  if (!bytes.empty()) {
    std::memcpy(Reserve(bytes.size()), bytes.data(), bytes.size());
    Commit(bytes.size());
  }
}

Result<std::optional<std::string>> PacketReader::Next() {
  while (buffered() >= kPacketHeader) {
    const char* header = buffer_.data() + start_;
    const size_t length = PartLength(header);
    if (joined_.size() + length > max_packet_size_) {
      sequence_ = static_cast<uint8_t>(header[3]);
      return Status(StatusCode::kLimit,
                    fmt::format("got a packet bigger than max_packet_size ({} bytes)", max_packet_size_),
                    1153);
    }
    if (buffered() < kPacketHeader + length) {
      break;
    }
    sequence_ = static_cast<uint8_t>(header[3]);
    const std::string_view part(header + kPacketHeader, length);
    if (length == kMaxPacketPart) {
      joined_.append(part);
      Consume(kPacketHeader + length);
      continue;
    }
    std::string payload = std::move(joined_);
    joined_.clear();
    payload.append(part);
    Consume(kPacketHeader + length);
    return std::optional<std::string>(std::move(payload));
  }
  return std::optional<std::string>();
}

void PacketReader::Consume(size_t count) {
  constexpr size_t kKeep = 1 << 20;
  start_ += count;
  if (start_ == used_ && buffer_.size() > kKeep) {  // after one large packet the memory goes back
    buffer_ = std::string();
    start_ = used_ = 0;
  }
}

std::string PacketReader::TakeBuffered() {
  std::string bytes = buffer_.substr(start_, buffered());
  start_ = used_ = 0;
  return bytes;
}

std::string& PacketWriter::Begin() {
  start_ = buffer_.size();
  buffer_.append(kPacketHeader, '\0');
  return buffer_;
}

void PacketWriter::End() {
  const size_t length = buffer_.size() - start_ - kPacketHeader;
  if (length >= kMaxPacketPart) {
    Split();
  } else {
    WriteHeader(start_, length);
  }
}

void PacketWriter::Add(std::string_view payload) {
  Begin().append(payload);
  End();
}

std::string PacketWriter::Take() {
  std::string bytes = std::move(buffer_);
  buffer_.clear();
  return bytes;
}

void PacketWriter::WriteHeader(size_t at, size_t length) {
  const auto value = static_cast<uint32_t>(length);
  std::memcpy(buffer_.data() + at, &value, 3);
  buffer_[at + 3] = static_cast<char>(sequence_++);
}

void PacketWriter::Split() {
  const std::string payload = buffer_.substr(start_ + kPacketHeader);
  buffer_.resize(start_);
  size_t position = 0;
  size_t length = 0;
  do {
    length = std::min(kMaxPacketPart, payload.size() - position);
    const size_t at = buffer_.size();
    buffer_.append(kPacketHeader, '\0');
    buffer_.append(payload, position, length);
    WriteHeader(at, length);
    position += length;
  } while (length == kMaxPacketPart);  // the last part is shorter, perhaps empty
}

}  // namespace stoa::daemon
