#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace stoa::daemon {

// The zlib form of the protocol: the packet stream cut into frames of up to 16 MB, each deflated or stored.
// One thread at a time.
class CompressedReader {
 public:
  void Append(std::string_view bytes);
  // Appends what the next complete frame holds to `out`; false: more bytes are needed. kInvalid when a frame
  // does not inflate to the size it states.
  Result<bool> Next(std::string& out);
  uint8_t sequence() const { return sequence_; }
  bool in_frame() const { return start_ < buffer_.size(); }

 private:
  std::string buffer_;
  size_t start_ = 0;
  uint8_t sequence_ = 0;
};

// Frames `bytes`, starting with number `sequence`, which is advanced.
Status AppendCompressed(std::string_view bytes, uint8_t& sequence, std::string& out);

}  // namespace stoa::daemon
