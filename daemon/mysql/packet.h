#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace stoa::daemon {

// Cuts a byte stream into packets and joins the parts of long ones. Memory grows with what arrived, never
// with what a header promises. One thread at a time.
class PacketReader {
 public:
  explicit PacketReader(uint64_t max_packet_size) : max_packet_size_(max_packet_size) {}

  // Where the next bytes go; Commit() says how many came.
  char* Reserve(size_t count);
  void Commit(size_t count);
  void Append(std::string_view bytes);

  // The payload of the next complete packet; nullopt: more bytes are needed. kLimit (1153) as soon as a
  // header tells that the packet is larger than the limit.
  Result<std::optional<std::string>> Next();

  // Bytes that arrived and were not given out.
  size_t buffered() const { return used_ - start_; }
  bool in_packet() const { return buffered() > 0 || !joined_.empty(); }
  // All of them, taken out: the stream goes on in another form (TLS).
  std::string TakeBuffered();
  // The number of the last part given out; the answer starts with the next one.
  uint8_t sequence() const { return sequence_; }
  // Before login little is allowed.
  void SetLimit(uint64_t max_packet_size) { max_packet_size_ = max_packet_size; }

 private:
  void Consume(size_t count);

  uint64_t max_packet_size_;
  std::string buffer_;
  size_t start_ = 0;
  size_t used_ = 0;
  std::string joined_;
  uint8_t sequence_ = 0;
};

// Frames payloads: Begin(), append the payload to buffer(), End(). Long payloads are split. One thread at a
// time.
class PacketWriter {
 public:
  std::string& Begin();
  void End();
  void Add(std::string_view payload);

  std::string& buffer() { return buffer_; }
  size_t size() const { return buffer_.size(); }
  std::string Take();
  void SetSequence(uint8_t sequence) { sequence_ = sequence; }
  uint8_t sequence() const { return sequence_; }

 private:
  void WriteHeader(size_t at, size_t length);
  void Split();

  std::string buffer_;
  size_t start_ = 0;
  uint8_t sequence_ = 0;
};

}  // namespace stoa::daemon
