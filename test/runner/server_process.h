#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stoa::runner {

// A searchd of the runner's own: a free port, a temporary folder with config, data and log. Throws
// std::runtime_error when it does not start.
class ServerProcess {
 public:
  ServerProcess(std::string searchd, bool keep_folder);
  ~ServerProcess();  // kills, removes the folder
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  void AddConfigLine(const std::string& line) { config_lines_.push_back(line); }
  void Start(const std::string& fault_points);
  // Ends it with TERM; false when it did not end cleanly (exit code in last_end()).
  bool Stop();
  void Kill();
  // True while the process lives. After it ended by itself, last_end() says how.
  bool Poll();
  bool running() const { return pid_ > 0; }

  uint16_t port() const { return port_; }
  const std::string& folder() const { return folder_; }
  const std::string& last_end() const { return last_end_; }
  // The end of the log, for failure messages.
  std::string LogTail() const;

 private:
  void WriteConfig() const;
  void NoteEnd(int status);

  std::string searchd_;
  bool keep_folder_;
  std::string folder_;
  uint16_t port_ = 0;
  pid_t pid_ = -1;
  std::string last_end_;
  std::vector<std::string> config_lines_;
};

}  // namespace stoa::runner
