#include "prepared.h"

#include <memory>
#include <vector>

namespace stoa::runner {

namespace {

constexpr unsigned long kFirstBytes = 4096;

// One column of the current row, as text.
struct Column {
  std::vector<char> bytes = std::vector<char>(kFirstBytes);
  unsigned long length = 0;
  my_bool is_null = 0;
  my_bool is_cut = 0;
};

struct CloseStatement {
  void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
};

std::vector<MYSQL_BIND> BindColumns(std::vector<Column>& columns) {
  std::vector<MYSQL_BIND> binds(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    binds[i].buffer_type = MYSQL_TYPE_STRING;
    binds[i].buffer = columns[i].bytes.data();
    binds[i].buffer_length = columns[i].bytes.size();
    binds[i].length = &columns[i].length;
    binds[i].is_null = &columns[i].is_null;
    binds[i].error = &columns[i].is_cut;
  }
  return binds;
}

std::string ReadCell(MYSQL_STMT* statement, Column& column, unsigned number) {
  if (column.is_null != 0) {
    return ShowCell(nullptr, 0);
  }
  if (column.length > column.bytes.size()) {
    std::vector<char> all(column.length);
    MYSQL_BIND bind{};
    bind.buffer_type = MYSQL_TYPE_STRING;
    bind.buffer = all.data();
    bind.buffer_length = all.size();
    mysql_stmt_fetch_column(statement, &bind, number, 0);
    return ShowCell(all.data(), all.size());
  }
  return ShowCell(column.bytes.data(), column.length);
}

QueryResult ReadRows(MYSQL_STMT* statement, MYSQL_RES* metadata) {
  QueryResult result;
  result.types = TypeLetters(metadata);
  std::vector<Column> columns(mysql_num_fields(metadata));
  std::vector<MYSQL_BIND> binds = BindColumns(columns);
  mysql_stmt_bind_result(statement, binds.data());
  mysql_stmt_store_result(statement);
  for (int got = mysql_stmt_fetch(statement); got == 0 || got == MYSQL_DATA_TRUNCATED;
       got = mysql_stmt_fetch(statement)) {
    std::string row;
    for (unsigned i = 0; i < columns.size(); ++i) {
      row += (i == 0 ? "" : "\t") + ReadCell(statement, columns[i], i);
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

// False after the last result.
bool ReadResult(MYSQL_STMT* statement, Answer& answer) {
  if (MYSQL_RES* metadata = mysql_stmt_result_metadata(statement); metadata != nullptr) {
    answer.results.push_back(ReadRows(statement, metadata));
    mysql_free_result(metadata);

  } else {
    answer.affected += mysql_stmt_affected_rows(statement);
  }
  return mysql_stmt_errno(statement) == 0 && mysql_stmt_next_result(statement) == 0;
}

}  // namespace

Answer RunPrepared(MYSQL* connection, const std::string& sql) {
  Answer answer;
  const std::unique_ptr<MYSQL_STMT, CloseStatement> statement(mysql_stmt_init(connection));
  if (mysql_stmt_prepare(statement.get(), sql.data(), sql.size()) == 0 &&
      mysql_stmt_execute(statement.get()) == 0) {
    while (ReadResult(statement.get(), answer)) {
    }
  }
  answer.error = mysql_stmt_errno(statement.get());
  answer.error_text = mysql_stmt_error(statement.get());
  return answer;
}

}  // namespace stoa::runner
