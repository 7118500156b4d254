#pragma once

#include <mysql.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stoa::runner {

struct QueryResult {
  std::string types;              // I, T or R a column; empty: no result set
  std::vector<std::string> rows;  // cells divided by tabs; NULL, (empty), \t \n \\ as written in .test files
};

struct Answer {
  unsigned error = 0;  // 0: success
  std::string error_text;
  uint64_t affected = 0;
  std::vector<QueryResult> results;

  bool lost() const { return error >= 2000 && error < 3000; }
};

std::string TypeLetters(MYSQL_RES* result);
std::string ShowCell(const char* value, unsigned long length);  // null: NULL

// A connection by the MySQL client library. One thread.
class Client {
 public:
  // `prepared`: what is one statement goes by the binary protocol. error() says how it went.
  Client(uint16_t port, bool prepared);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  std::string error() const;
  Answer Run(const std::string& sql);

 private:
  bool ReadResult(Answer& answer);
  void NoteError(Answer& answer);

  MYSQL* handle_;
  bool prepared_;
  bool connected_ = false;
};

}  // namespace stoa::runner
