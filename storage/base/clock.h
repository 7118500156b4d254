#pragma once

#include <cstdint>

namespace stoa {

// Wall clock as a parameter, so that tests control it. Safe to share.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t UnixMicros() const = 0;
  int64_t UnixSeconds() const { return UnixMicros() / 1'000'000; }

  static const Clock& System();
};

}  // namespace stoa
