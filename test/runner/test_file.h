#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoa::runner {

enum class StepKind : uint8_t {
  kStatementOk,
  kStatementCount,
  kStatementError,
  kStatementLost,  // the connection ends: a fault point killed the server
  kQuery,
  kConnection,
  kRestart,
  kKill,
  kFault,
  kConfig,
  kLoop,
  kEndLoop,
};

// One block of a .test file.
struct Step {
  StepKind kind = StepKind::kStatementOk;
  int line = 0;
  std::string sql;
  std::string argument;  // connection name, fault points, config line, fragment of an error
  std::string types;     // kQuery: "ITR", one letter a column; "IT|T": two results
  bool sort_rows = false;
  int64_t number = 0;             // rows, error number, rounds of a loop
  std::vector<std::string> rows;  // kQuery: as written; "--" divides results
};

struct TestFile {
  std::string path;
  std::string what;  // of the header "# what: ..."
  std::vector<Step> steps;
};

// Reads a .test file (format: docs/contributing.md). Throws std::runtime_error "path:line: ..." for what it
// cannot read.
TestFile ReadTestFile(const std::string& path);

}  // namespace stoa::runner
