#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace stoa::daemon {

// The primitive types of the MySQL protocol: little-endian integers, length-encoded integers and strings.

template <typename T>
  requires std::is_arithmetic_v<T>
void AppendFixed(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}
inline void AppendFixed3(uint32_t value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), 3);
}
void AppendLengthInteger(uint64_t value, std::string& out);
void AppendLengthString(std::string_view bytes, std::string& out);
inline void AppendNullTerminated(std::string_view bytes, std::string& out) {
  out.append(bytes);
  out.push_back('\0');
}

// Bounds-checked reading of one packet's payload. After a read past the end every read gives zero or an empty
// string, and failed() stays true; so a decoder reads what it expects and asks once. Views are into the
// payload.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view payload) : rest_(payload) {}

  bool failed() const { return failed_; }
  bool done() const { return rest_.empty(); }
  size_t remaining() const { return rest_.size(); }

  template <typename T>
    requires std::is_arithmetic_v<T>
  T Fixed() {
    T value{};
    const std::string_view bytes = Bytes(sizeof(T));
    if (!failed_) {
      std::memcpy(&value, bytes.data(), sizeof(T));
    }
    return value;
  }
  uint64_t LengthInteger();
  std::string_view LengthString();
  // Up to a zero byte, which is consumed.
  std::string_view NullTerminated();
  // As NullTerminated(), but the end of the payload ends it, too.
  std::string_view NullTerminatedOrRest();
  std::string_view Bytes(size_t count);
  std::string_view Rest();
  void Skip(size_t count) { Bytes(count); }

 private:
  std::string_view Fail() {
    failed_ = true;
    rest_ = {};
    return {};
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace stoa::daemon
