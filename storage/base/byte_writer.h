#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace stoa {

// Little-endian encoding at the end of a string; the counterpart of ByteReader. One thread at a time.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  size_t size() const { return out_.size(); }

  template <typename T>
    requires std::is_arithmetic_v<T>
  void Write(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void WriteVarint(uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<char>((value & 0x7f) | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<char>(value));
  }
  void WriteBytes(std::string_view bytes) { out_.append(bytes); }
  void WriteString(std::string_view bytes) {
    WriteVarint(bytes.size());
    out_.append(bytes);
  }

 private:
  std::string& out_;
};

}  // namespace stoa
