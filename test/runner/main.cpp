#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <thread>

#include "step_runner.h"
#include "test_file.h"

// Runs .test files against searchd processes of its own and prints one line a failed check, then "N passed, N
// failed".

namespace stoa::runner {

namespace {

struct Totals {
  int passed = 0;
  int failed = 0;
};

std::vector<std::string> FindFiles(const std::vector<std::string>& paths, bool slow) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      const std::string name = entry.path().string();
      if (name.ends_with(".test") && (slow || !name.ends_with(".slow.test"))) {
        files.push_back(name);
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

FileOutcome RunFile(const std::string& path, const RunnerOptions& options) {
  try {
    const TestFile file = ReadTestFile(path);
    return StepRunner(file, options).Run();
  } catch (const std::exception& error) {
    return {.passed = 0, .failures = {error.what()}};
  }
}

Totals RunAll(const std::vector<std::string>& files, const RunnerOptions& options, unsigned jobs) {
  Totals totals;
  std::mutex mutex;
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < files.size(); i = next++) {
      const FileOutcome outcome = RunFile(files[i], options);
      const std::lock_guard<std::mutex> lock(mutex);
      totals.passed += outcome.passed;
      totals.failed += static_cast<int>(outcome.failures.size());
      for (const std::string& failure : outcome.failures) {
        fmt::print("FAIL {}\n", failure);
      }
      std::fflush(stdout);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < jobs; ++i) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return totals;
}

}  // namespace

}  // namespace stoa::runner

int main(int argc, char** argv) {
  using namespace stoa::runner;  // NOLINT(google-build-using-namespace): the program itself
  RunnerOptions options{.searchd = "build/release/searchd"};
  std::vector<std::string> paths;
  bool slow = false;
  unsigned jobs = 2;
  CLI::App app("Runs .test files (docs/contributing.md) against searchd.");
  app.add_option("--searchd", options.searchd, "The program to test");
  app.add_option("--jobs", jobs, "Files at a time");
  app.add_flag("--slow", slow, "Also .slow.test files");
  app.add_flag("--keep", options.keep_folder, "Keep the temporary folders");
  app.add_flag("--prepared", options.prepared, "Send each statement as a prepared one");
  app.add_flag("--restart-often", options.restart_often, "Restart the server before each statement");
  app.add_option("paths", paths, "Files and folders")->required();
  CLI11_PARSE(app, argc, argv);
  signal(SIGPIPE, SIG_IGN);
  mysql_library_init(0, nullptr, nullptr);
  const Totals totals = RunAll(FindFiles(paths, slow), options, std::max(1U, jobs));
  fmt::print("{} passed, {} failed\n", totals.passed, totals.failed);
  return totals.failed == 0 ? 0 : 1;
}
