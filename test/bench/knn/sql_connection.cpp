#include "sql_connection.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace stoa::bench {

Connection::Connection(const Endpoint& endpoint) : handle_(mysql_init(nullptr)) {
  const unsigned tcp = MYSQL_PROTOCOL_TCP;
  mysql_options(handle_, MYSQL_OPT_PROTOCOL, &tcp);
  if (mysql_real_connect(handle_, endpoint.host.c_str(), "root", "", "", endpoint.port, nullptr, 0) ==
      nullptr) {
    std::fprintf(stderr, "connect: %s\n", mysql_error(handle_));
    std::exit(1);
  }
}

Connection::~Connection() { mysql_close(handle_); }

void Connection::Send(const std::string& sql) {
  if (mysql_real_query(handle_, sql.data(), sql.size()) != 0) {
    std::fprintf(stderr, "%.80s: %s\n", sql.c_str(), mysql_error(handle_));
    std::exit(1);
  }
}

Rows Connection::Run(const std::string& sql) {
  Send(sql);
  Rows rows;
  if (MYSQL_RES* result = mysql_store_result(handle_)) {
    const unsigned columns = mysql_num_fields(result);
    while (MYSQL_ROW row = mysql_fetch_row(result)) {
      auto& cells = rows.emplace_back();
      for (unsigned column = 0; column < columns; ++column) {
        cells.emplace_back(row[column] == nullptr ? "" : row[column]);
      }
    }
    mysql_free_result(result);
  }
  return rows;
}

uint64_t Connection::Count(const std::string& sql) {
  Send(sql);
  uint64_t rows = 0;
  if (MYSQL_RES* result = mysql_store_result(handle_)) {
    rows = mysql_num_rows(result);
    mysql_free_result(result);
  }
  return rows;
}

std::string Connection::Named(const std::string& sql, const std::string& name) {
  for (const auto& row : Run(sql)) {
    if (row.size() > 1 && row[0] == name) {
      return row[1];
    }
  }
  return "";
}

double Connection::NamedNumber(const std::string& sql, const std::string& name) {
  return std::strtod(Named(sql, name).c_str(), nullptr);
}

void AppendVector(const float* values, size_t dims, std::string& text) {
  for (size_t d = 0; d < dims; ++d) {
    char number[32];
    const auto [end, error] = std::to_chars(number, number + sizeof(number), values[d]);
    text += d == 0 ? '(' : ',';
    text.append(number, static_cast<size_t>(end - number));
  }
  text += ')';
}

}  // namespace stoa::bench
