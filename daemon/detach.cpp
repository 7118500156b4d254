#include "daemon/detach.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "daemon/command_line.h"

namespace stoa::daemon {

namespace {

constexpr char kReady = '+';

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written <= 0) {
      return;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// What the waiting process does: copy the failure, or end well.
[[noreturn]] void WaitForServer(int fd) {
  std::string heard;
  std::array<char, 512> buffer{};
  ssize_t length = 0;
  while ((length = read(fd, buffer.data(), buffer.size())) > 0) {
    heard.append(buffer.data(), static_cast<size_t>(length));
  }
  if (heard == std::string(1, kReady)) {
    _exit(kExitOk);
  }
  WriteAll(STDERR_FILENO, heard.empty() ? "searchd: FATAL: the server ended while it started\n" : heard);
  _exit(kExitFailed);
}

void LeaveTerminal(bool keep_output) {
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    dup2(null, STDIN_FILENO);
    if (!keep_output) {
      dup2(null, STDOUT_FILENO);
      dup2(null, STDERR_FILENO);
    }
    close(null);
  }
}

}  // namespace

Detacher::~Detacher() {
  if (pipe_ >= 0) {
    close(pipe_);
  }
}

bool Detacher::Detach(bool keep_output) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return false;
  }
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return false;
  }
  if (child > 0) {
    close(ends[1]);
    WaitForServer(ends[0]);
  }
  close(ends[0]);
  pipe_ = ends[1];
  LeaveTerminal(keep_output);
  return true;
}

void Detacher::ReportReady() {
  if (pipe_ >= 0) {
    WriteAll(pipe_, std::string_view(&kReady, 1));
    close(pipe_);
    pipe_ = -1;
  }
}

void Detacher::ReportFailure(std::string_view text) {
  const std::string line = "searchd: FATAL: " + std::string(text) + "\n";
  WriteAll(pipe_ >= 0 ? pipe_ : STDERR_FILENO, line);
  if (pipe_ >= 0) {
    close(pipe_);
    pipe_ = -1;
  }
}

}  // namespace stoa::daemon
