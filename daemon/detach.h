#pragma once

#include <string>
#include <string_view>

namespace stoa::daemon {

// Moves the server into the background. The process that the user started waits until the server says how the
// start went, prints a failure and exits with its code. Used once, before any thread is started.
class Detacher {
 public:
  Detacher() = default;
  ~Detacher();
  Detacher(const Detacher&) = delete;
  Detacher& operator=(const Detacher&) = delete;

  // Forks: returns in the server only (or in the caller, when the system refuses; false then). The server has
  // a session of its own and no terminal; `keep_output`: it still writes to standard output (its log goes
  // there).
  bool Detach(bool keep_output);
  // Lets the waiting process end with code 0.
  void ReportReady();
  // One line to the terminal: through the waiting process, or straight to stderr without one. Ends the wait
  // with code 1.
  void ReportFailure(std::string_view text);

 private:
  int pipe_ = -1;  // to the waiting process
};

}  // namespace stoa::daemon
