#include "storage/base/clock.h"

#include <chrono>

namespace stoa {
namespace {

class SystemClock : public Clock {
 public:
  int64_t UnixMicros() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  }
};

}  // namespace

const Clock& Clock::System() {
  static const SystemClock clock;
  return clock;
}

}  // namespace stoa
