#include "test_file.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace stoa::runner {

namespace {

// Cuts a file into steps. One use.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(path) {
    if (!file_) {
      throw std::runtime_error(fmt::format("{}: cannot be read", path));
    }
  }

  TestFile Read() {
    TestFile test{.path = path_, .what = {}, .steps = {}};
    std::string line;
    while (NextLine(line)) {
      if (line.starts_with("# what:")) {
        test.what = line.substr(7);
      }
      if (!line.empty() && !line.starts_with('#')) {
        test.steps.push_back(ReadStep(line));
      }
    }
    if (test.what.empty()) {
      Fail("the header '# what: ...' is missing");
    }
    CheckLoops(test);
    return test;
  }

 private:
  [[noreturn]] void Fail(const std::string& text) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", path_, number_, text));
  }

  bool NextLine(std::string& line) {
    ++number_;
    return static_cast<bool>(std::getline(file_, line));
  }

  Step ReadStep(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    Step step;
    step.line = number_;
    if (verb == "statement") {
      ReadStatementHead(words, step);
      ReadBody(step);
    } else if (verb == "query") {
      ReadQueryHead(words, step);
      ReadBody(step);
    } else {
      ReadPlainVerb(verb, words, step);
    }
    return step;
  }

  void ReadStatementHead(std::istringstream& words, Step& step) {
    std::string kind;
    words >> kind;
    if (kind == "ok") {
      step.kind = StepKind::kStatementOk;
    } else if (kind == "count" && words >> step.number) {
      step.kind = StepKind::kStatementCount;
    } else if (kind == "error" && words >> step.number) {
      step.kind = StepKind::kStatementError;
      std::getline(words >> std::ws, step.argument);
    } else if (kind == "lost") {
      step.kind = StepKind::kStatementLost;
    } else {
      Fail("expected 'statement ok', 'count N', 'error N text' or 'lost'");
    }
  }

  void ReadQueryHead(std::istringstream& words, Step& step) {
    step.kind = StepKind::kQuery;
    words >> step.types;
    std::string flag;
    while (words >> flag) {
      if (flag != "rowsort") {
        Fail("unknown flag " + flag);
      }
      step.sort_rows = true;
    }
    if (step.types.find_first_not_of("ITR|") != std::string::npos) {
      Fail("types are I, T and R");
    }
  }

  void ReadPlainVerb(const std::string& verb, std::istringstream& words, Step& step) {
    std::getline(words >> std::ws, step.argument);
    if (verb == "connection") {
      step.kind = StepKind::kConnection;
    } else if (verb == "restart") {
      step.kind = StepKind::kRestart;
    } else if (verb == "kill") {
      step.kind = StepKind::kKill;
    } else if (verb == "fault") {
      step.kind = StepKind::kFault;
    } else if (verb == "config") {
      step.kind = StepKind::kConfig;
    } else if (verb == "loop") {
      step.kind = StepKind::kLoop;
      step.number = std::stoll(step.argument);
    } else if (verb == "endloop") {
      step.kind = StepKind::kEndLoop;
    } else {
      Fail("unknown verb " + verb);
    }
  }

  // SQL up to "----" or a blank line, then rows up to a blank line.
  void ReadBody(Step& step) {
    std::string line;
    bool in_rows = false;
    while (NextLine(line) && !line.empty()) {
      if (!in_rows && line == "----") {
        in_rows = true;
      } else if (in_rows) {
        step.rows.push_back(line);
      } else {
        step.sql += (step.sql.empty() ? "" : "\n") + line;
      }
    }
    if (step.sql.empty()) {
      Fail("no SQL");
    }
    if (in_rows != (step.kind == StepKind::kQuery)) {
      Fail(in_rows ? "rows after a statement" : "a query needs ---- and its rows");
    }
  }

  void CheckLoops(const TestFile& test) const {
    int depth = 0;
    for (const Step& step : test.steps) {
      depth += step.kind == StepKind::kLoop ? 1 : step.kind == StepKind::kEndLoop ? -1 : 0;
      if (depth < 0 || depth > 1) {
        Fail("loop and endloop do not match, or loops are nested");
      }
    }
    if (depth != 0) {
      Fail("endloop is missing");
    }
  }

  std::string path_;
  std::ifstream file_;
  int number_ = 0;
};

}  // namespace

TestFile ReadTestFile(const std::string& path) { return Reader(path).Read(); }

}  // namespace stoa::runner
