#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client.h"
#include "server_process.h"
#include "test_file.h"

namespace stoa::runner {

struct RunnerOptions {
  std::string searchd;
  bool keep_folder = false;
  bool prepared = false;  // statements go by the binary protocol
  bool restart_often =
      false;  // a clean restart before each statement, but not in transactions or with faults
};

struct FileOutcome {
  int passed = 0;
  std::vector<std::string> failures;  // "path:line: what"
};

// Runs one file on a server of its own.
class StepRunner {
 public:
  StepRunner(const TestFile& file, const RunnerOptions& options);
  FileOutcome Run();

 private:
  void RunStep(const Step& step);
  void RunLoop(size_t& at);
  bool MayRestart(const std::string& sql) const;  // nothing is lost by a restart before it
  void NoteSession(const std::string& sql);
  void CheckAnswer(const Step& step, const Answer& answer);
  void CheckRows(const Step& step, const Answer& answer);
  void RestartServer(const Step& step, bool kill, const std::string& fault_points);
  Client& CurrentClient();
  void Pass() { ++outcome_.passed; }
  void Fail(const Step& step, const std::string& text);
  std::string Substitute(const std::string& text) const;  // ${i} of the loop

  const TestFile& file_;
  const RunnerOptions& options_;
  ServerProcess server_;
  FileOutcome outcome_;
  std::map<std::string, std::unique_ptr<Client>> clients_;
  std::string connection_ = "main";
  std::string loop_value_;
  bool in_transaction_ = false;
  bool faults_armed_ = false;
};

}  // namespace stoa::runner
