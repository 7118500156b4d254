#include "step_runner.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace stoa::runner {

namespace {

std::vector<std::string> Split(const std::string& text, char mark) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == mark) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Five digits: sums differ in the seventh between kinds of processors.
bool SameReal(const std::string& want, const std::string& got) {
  char* want_end = nullptr;
  char* got_end = nullptr;
  const double a = std::strtod(want.c_str(), &want_end);
  const double b = std::strtod(got.c_str(), &got_end);
  if (want_end == want.c_str() || got_end == got.c_str()) {
    return want == got;
  }
  return std::abs(a - b) <= 1e-5 * std::max({1.0, std::abs(a), std::abs(b)});
}

bool SameRow(const std::string& types, const std::string& want, const std::string& got) {
  const std::vector<std::string> want_cells = Split(want, '\t');
  const std::vector<std::string> got_cells = Split(got, '\t');
  if (want_cells.size() != got_cells.size()) {
    return false;
  }
  for (size_t i = 0; i < want_cells.size(); ++i) {
    const bool real = i < types.size() && types[i] == 'R';
    if (real ? !SameReal(want_cells[i], got_cells[i]) : want_cells[i] != got_cells[i]) {
      return false;
    }
  }
  return true;
}

// What differs between one result and what is written; empty: nothing.
std::string Difference(const std::string& types, std::vector<std::string> want, const QueryResult& got,
                       bool sort) {
  if (got.types != types) {
    return fmt::format("types are {}, expected {}", got.types, types);
  }
  std::vector<std::string> rows = got.rows;
  if (sort) {
    std::sort(rows.begin(), rows.end());
    std::sort(want.begin(), want.end());
  }
  for (size_t i = 0; i < std::min(rows.size(), want.size()); ++i) {
    if (!SameRow(types, want[i], rows[i])) {
      return fmt::format("row {} is [{}], expected [{}]", i + 1, rows[i], want[i]);
    }
  }
  if (rows.size() != want.size()) {
    return fmt::format("{} rows, expected {}{}", rows.size(), want.size(),
                       rows.size() > want.size() ? fmt::format("; the next is [{}]", rows[want.size()]) : "");
  }
  return {};
}

bool ContainsIgnoringCase(const std::string& text, const std::string& part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

// A question about the statement before it, which a restart in between would spoil.
bool AsksAboutSession(const std::string& sql) {
  for (const char* mark : {"show meta", "show warnings", "show status", "last_insert_id"}) {
    if (ContainsIgnoringCase(sql, mark)) {
      return true;
    }
  }
  return false;
}

bool StartsWithWord(const std::string& sql, const char* word) {
  return strncasecmp(sql.c_str(), word, std::char_traits<char>::length(word)) == 0;
}

}  // namespace

StepRunner::StepRunner(const TestFile& file, const RunnerOptions& options)
    : file_(file), options_(options), server_(options.searchd, options.keep_folder) {}

FileOutcome StepRunner::Run() {
  const Step* current = file_.steps.empty() ? nullptr : &file_.steps.front();
  try {
    for (size_t at = 0; at < file_.steps.size(); ++at) {
      current = &file_.steps[at];
      if (current->kind == StepKind::kLoop) {
        RunLoop(at);
      } else {
        RunStep(*current);
      }
    }
    clients_.clear();
    if (server_.running() && !server_.Stop()) {
      Fail(*current, "the server does not stop cleanly: " + server_.last_end());
    }
  } catch (const std::exception& error) {
    if (current != nullptr) {
      Fail(*current, error.what());
    }
  }
  return std::move(outcome_);
}

// Leaves `at` at the endloop.
void StepRunner::RunLoop(size_t& at) {
  const size_t first = at + 1;
  const int64_t rounds = file_.steps[at].number;
  for (int64_t i = 0; i < rounds; ++i) {
    loop_value_ = std::to_string(i);
    for (at = first; file_.steps[at].kind != StepKind::kEndLoop; ++at) {
      RunStep(file_.steps[at]);
    }
  }
  loop_value_.clear();
}

void StepRunner::RunStep(const Step& step) {
  switch (step.kind) {
    case StepKind::kConfig:
      server_.AddConfigLine(step.argument);
      return;
    case StepKind::kConnection:
      connection_ = step.argument;
      return;
    case StepKind::kRestart:
      return RestartServer(step, false, "");
    case StepKind::kKill:
      return RestartServer(step, true, "");
    case StepKind::kFault:
      return RestartServer(step, false, step.argument);
    case StepKind::kLoop:
    case StepKind::kEndLoop:
      return;
    default:
      break;
  }
  const std::string sql = Substitute(step.sql);
  if (!server_.running()) {
    server_.Start("");
  } else if (options_.restart_often && MayRestart(sql)) {
    RestartServer(step, false, "");
  }
  CheckAnswer(step, CurrentClient().Run(sql));
  NoteSession(sql);
}

void StepRunner::NoteSession(const std::string& sql) {
  if (StartsWithWord(sql, "begin") || StartsWithWord(sql, "start") || StartsWithWord(sql, "set") ||
      StartsWithWord(sql, "lock")) {
    in_transaction_ = true;  // a restart would lose the session's state
  } else if (StartsWithWord(sql, "commit") || StartsWithWord(sql, "rollback") ||
             StartsWithWord(sql, "unlock")) {
    in_transaction_ = false;
  }
}

bool StepRunner::MayRestart(const std::string& sql) const {
  return !in_transaction_ && !faults_armed_ && clients_.size() <= 1 && !AsksAboutSession(sql);
}

void StepRunner::CheckAnswer(const Step& step, const Answer& answer) {
  if (answer.lost() != (step.kind == StepKind::kStatementLost)) {
    if (answer.lost()) {
      server_.Poll();
      throw std::runtime_error(fmt::format("connection lost ({}); the server {}: {}", answer.error_text,
                                           server_.running() ? "lives" : "ended by " + server_.last_end(),
                                           server_.LogTail()));
    }
    return Fail(step, "the connection was expected to be lost");
  }
  if (step.kind == StepKind::kStatementLost) {
    server_.Poll();
    clients_.clear();
    return Pass();
  }
  if (step.kind == StepKind::kStatementError) {
    if (answer.error != step.number || !ContainsIgnoringCase(answer.error_text, Substitute(step.argument))) {
      return Fail(step, fmt::format("got {} '{}', expected error {} with '{}'", answer.error,
                                    answer.error_text, step.number, step.argument));
    }
    return Pass();
  }
  if (answer.error != 0) {
    return Fail(step, fmt::format("error {} '{}'", answer.error, answer.error_text));
  }
  if (step.kind == StepKind::kStatementCount && answer.affected != static_cast<uint64_t>(step.number)) {
    return Fail(step, fmt::format("{} rows affected, expected {}", answer.affected, step.number));
  }
  if (step.kind == StepKind::kQuery) {
    return CheckRows(step, answer);
  }
  Pass();
}

void StepRunner::CheckRows(const Step& step, const Answer& answer) {
  const std::vector<std::string> types = Split(step.types, '|');
  std::vector<std::vector<std::string>> want(1);
  for (const std::string& row : step.rows) {
    if (row == "--") {
      want.emplace_back();
    } else {
      want.back().push_back(Substitute(row));
    }
  }
  want.resize(std::max(want.size(), types.size()));
  if (answer.results.size() != types.size()) {
    return Fail(step, fmt::format("{} result sets, expected {}", answer.results.size(), types.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string difference = Difference(types[i], want[i], answer.results[i], step.sort_rows);
    if (!difference.empty()) {
      return Fail(step, difference);
    }
  }
  Pass();
}

void StepRunner::RestartServer(const Step& step, bool kill, const std::string& fault_points) {
  clients_.clear();
  server_.Poll();
  if (kill) {
    server_.Kill();
  } else if (server_.running() && !server_.Stop()) {
    Fail(step, "the server does not stop cleanly: " + server_.last_end());
  }
  server_.Start(fault_points);
  faults_armed_ = !fault_points.empty();
}

Client& StepRunner::CurrentClient() {
  std::unique_ptr<Client>& client = clients_[connection_];
  if (client == nullptr) {
    client = std::make_unique<Client>(server_.port(), options_.prepared);
    if (!client->connected()) {
      throw std::runtime_error("cannot connect: " + client->error() + "; " + server_.LogTail());
    }
  }
  return *client;
}

void StepRunner::Fail(const Step& step, const std::string& text) {
  const std::string round = loop_value_.empty() ? "" : fmt::format(" (i = {})", loop_value_);
  outcome_.failures.push_back(fmt::format("{}:{}{}: {}", file_.path, step.line, round, text));
}

std::string StepRunner::Substitute(const std::string& text) const {
  std::string out = text;
  if (loop_value_.empty()) {
    return out;
  }
  for (size_t at = out.find("${i}"); at != std::string::npos; at = out.find("${i}", at)) {
    out.replace(at, 4, loop_value_);
  }
  return out;
}

}  // namespace stoa::runner
