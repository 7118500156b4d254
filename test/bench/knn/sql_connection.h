#pragma once

#include <mysql.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stoa::bench {

struct Endpoint {
  std::string host = "127.0.0.1";
  uint16_t port = 0;
};

using Rows = std::vector<std::vector<std::string>>;

// A connection by the MySQL client library, for one thread. What fails ends the program.
class Connection {
 public:
  explicit Connection(const Endpoint& endpoint);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Rows Run(const std::string& sql);
  // Takes the answer and says how many rows it has.
  uint64_t Count(const std::string& sql);
  // The second column of the row that has `name` in the first (SHOW META and the like); "" when there is
  // none.
  std::string Named(const std::string& sql, const std::string& name);
  double NamedNumber(const std::string& sql, const std::string& name);

 private:
  void Send(const std::string& sql);

  MYSQL* handle_;
};

// "(0.1,0.2)", each number as short as it can be without being another one.
void AppendVector(const float* values, size_t dims, std::string& text);

}  // namespace stoa::bench
