#include "client.h"

#include "prepared.h"

namespace stoa::runner {

namespace {

constexpr unsigned kTimeoutSeconds = 120;
constexpr const char* kNotOneStatement = "a prepared statement is one statement";

char TypeLetter(const MYSQL_FIELD& field) {
  switch (field.type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
      return 'I';
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL:
      return 'R';
    default:
      return 'T';
  }
}

QueryResult CopyResult(MYSQL_RES* from) {
  QueryResult result;
  const unsigned columns = mysql_num_fields(from);
  result.types = TypeLetters(from);
  while (MYSQL_ROW row = mysql_fetch_row(from)) {
    const unsigned long* lengths = mysql_fetch_lengths(from);
    std::string text;
    for (unsigned i = 0; i < columns; ++i) {
      text += (i == 0 ? "" : "\t") + ShowCell(row[i], lengths[i]);
    }
    result.rows.push_back(std::move(text));
  }
  return result;
}

}  // namespace

std::string TypeLetters(MYSQL_RES* result) {
  std::string letters;
  const MYSQL_FIELD* fields = mysql_fetch_fields(result);
  for (unsigned i = 0; i < mysql_num_fields(result); ++i) {
    letters += TypeLetter(fields[i]);
  }
  return letters;
}

std::string ShowCell(const char* value, unsigned long length) {
  if (value == nullptr) {
    return "NULL";
  }
  if (length == 0) {
    return "(empty)";
  }
  std::string cell;
  for (unsigned long i = 0; i < length; ++i) {
    switch (value[i]) {
      case '\t':
        cell += "\\t";
        break;
      case '\n':
        cell += "\\n";
        break;
      case '\r':
        cell += "\\r";
        break;
      case '\\':
        cell += "\\\\";
        break;
      default:
        cell += value[i];
    }
  }
  return cell;
}

Client::Client(uint16_t port, bool prepared) : handle_(mysql_init(nullptr)), prepared_(prepared) {
  mysql_options(handle_, MYSQL_OPT_CONNECT_TIMEOUT, &kTimeoutSeconds);
  mysql_options(handle_, MYSQL_OPT_READ_TIMEOUT, &kTimeoutSeconds);
  mysql_options(handle_, MYSQL_OPT_WRITE_TIMEOUT, &kTimeoutSeconds);
  mysql_options(handle_, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  connected_ = mysql_real_connect(handle_, "127.0.0.1", "test", "", "", port, nullptr,
                                  CLIENT_MULTI_STATEMENTS | CLIENT_FOUND_ROWS) != nullptr;
}

Client::~Client() { mysql_close(handle_); }

std::string Client::error() const { return mysql_error(handle_); }

void Client::NoteError(Answer& answer) {
  answer.error = mysql_errno(handle_);
  answer.error_text = mysql_error(handle_);
}

Answer Client::Run(const std::string& sql) {
  if (prepared_) {
    Answer answer = RunPrepared(handle_, sql);
    if (answer.error_text.find(kNotOneStatement) == std::string::npos) {
      return answer;
    }
  }
  Answer answer;
  if (mysql_real_query(handle_, sql.data(), sql.size()) != 0) {
    NoteError(answer);
    return answer;
  }
  while (ReadResult(answer)) {
    const int next = mysql_next_result(handle_);
    if (next != 0) {
      if (next > 0) {
        NoteError(answer);
      }
      break;
    }
  }
  return answer;
}

// False after an error.
bool Client::ReadResult(Answer& answer) {
  MYSQL_RES* stored = mysql_store_result(handle_);
  if (stored != nullptr) {
    answer.results.push_back(CopyResult(stored));
    mysql_free_result(stored);
    return true;
  }
  if (mysql_field_count(handle_) != 0) {
    NoteError(answer);
    return false;
  }
  answer.affected += mysql_affected_rows(handle_);
  return true;
}

}  // namespace stoa::runner
