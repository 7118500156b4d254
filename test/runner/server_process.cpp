#include "server_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace stoa::runner {

namespace {

constexpr int kStartMillis = 60'000;

uint16_t FindFreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = bind(fd, generic, length) == 0 && getsockname(fd, generic, &length) == 0;
  close(fd);
  if (!bound) {
    throw std::runtime_error("no free port");
  }
  return ntohs(address.sin_port);
}

// The socket to which the server says READY=1, as to systemd.
int OpenNotifySocket(const std::string& path) {
  unlink(path.c_str());
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    throw std::runtime_error("cannot make " + path);
  }
  return fd;
}

}  // namespace

ServerProcess::ServerProcess(std::string searchd, bool keep_folder)
    : searchd_(std::move(searchd)), keep_folder_(keep_folder) {
  std::string name = std::filesystem::temp_directory_path().string() + "/stoa-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("no temporary folder");
  }
  folder_ = name;
}

ServerProcess::~ServerProcess() {
  Kill();
  if (!keep_folder_) {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
}

void ServerProcess::WriteConfig() const {
  std::ofstream file(folder_ + "/searchd.conf");
  file << "searchd {\nlisten = 127.0.0.1:" << port_ << ":mysql\ndata_dir = data\nlog = searchd.log\n";
  for (const std::string& line : config_lines_) {
    file << line << "\n";
  }
  file << "}\n";
}

void ServerProcess::Start(const std::string& fault_points) {
  port_ = FindFreePort();
  WriteConfig();
  const std::string notify_path = folder_ + "/notify";
  const int notify = OpenNotifySocket(notify_path);
  const std::string config = "--config=" + folder_ + "/searchd.conf";
  const std::string faults = "--fault-points=" + fault_points;
  const std::string output = folder_ + "/output";
  pid_ = fork();
  if (pid_ == 0) {
    const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    setenv("NOTIFY_SOCKET", notify_path.c_str(), 1);
    setenv("TZ", "UTC", 1);
    execl(searchd_.c_str(), "searchd", config.c_str(), fault_points.empty() ? nullptr : faults.c_str(),
          nullptr);
    _exit(127);
  }
  // Ready when it says so; the wait also ends when the process does.
  bool ready = false;
  for (int waited = 0; !ready && waited < kStartMillis && Poll(); waited += 20) {
    pollfd wait{.fd = notify, .events = POLLIN, .revents = 0};
    std::array<char, 128> message{};
    ready = poll(&wait, 1, 20) == 1 && recv(notify, message.data(), message.size(), 0) > 0 &&
            std::string_view(message.data()).starts_with("READY=1");
  }
  close(notify);
  if (!ready) {
    throw std::runtime_error(
        fmt::format("the server does not start ({}): {}", running() ? "no answer" : last_end_, LogTail()));
  }
}

bool ServerProcess::Poll() {
  int status = 0;
  if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
    NoteEnd(status);
  }
  return running();
}

void ServerProcess::NoteEnd(int status) {
  pid_ = -1;
  last_end_ = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                  : fmt::format("exit code {}", WEXITSTATUS(status));
}

bool ServerProcess::Stop() {
  int status = 0;
  if (pid_ <= 0) {
    return false;
  }
  kill(pid_, SIGTERM);
  waitpid(pid_, &status, 0);
  NoteEnd(status);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void ServerProcess::Kill() {
  int status = 0;
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
    NoteEnd(status);
  }
}

std::string ServerProcess::LogTail() const {
  std::string tail;
  for (const char* name : {"/searchd.log", "/output"}) {
    std::ifstream file(folder_ + name);
    std::stringstream text;
    text << file.rdbuf();
    std::string all = text.str();
    constexpr size_t kShown = 2000;
    tail += all.size() > kShown ? all.substr(all.size() - kShown) : all;
  }
  return tail;
}

}  // namespace stoa::runner
