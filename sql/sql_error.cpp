#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

constexpr size_t kMaxErrorText = 512;

Status Make(StatusCode code, uint16_t number, std::string text) { return {code, std::move(text), number}; }

}  // namespace

uint16_t ErrorNumber(const Status& status) {
  if (status.number() != 0) {
    return status.number();
  }
  switch (status.code()) {
    case StatusCode::kUnsupported:
      return 1235;
    case StatusCode::kCancelled:
      return 1317;
    default:
      return 1064;
  }
}

std::string_view SqlState(uint16_t number) {
  switch (number) {
    case 1040:
      return "08004";
    case 1043:
      return "08S01";
    case 1045:
      return "28000";
    case 1046:
      return "3D000";
    case 1047:
      return "08S01";
    case 1053:
      return "08S01";
    case 1094:
      return "HY000";
    case 1096:
      return "HY000";
    case 1142:
      return "42000";
    case 1146:
      return "42S02";
    case 1153:
      return "08S01";
    case 1193:
      return "HY000";
    case 1210:
      return "HY000";
    case 1235:
      return "42000";
    case 1243:
      return "HY000";
    case 1317:
      return "70100";
    default:
      return "42000";
  }
}

std::string ErrorText(const Status& status) {
  std::string text = status.text();
  for (char& c : text) {
    if (c == '\n' || c == '\r') {
      c = ' ';
    }
  }
  if (text.size() > kMaxErrorText) {
    size_t end = kMaxErrorText;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
      --end;
    }
    text.resize(end);
  }
  return text;
}

Status SyntaxError(std::string text) { return Make(StatusCode::kInvalid, 1064, std::move(text)); }

Status NotSupportedYet(std::string_view what) {
  return Make(StatusCode::kUnsupported, 1235, fmt::format("{} is not supported yet", what));
}

Status UnknownColumn(std::string_view table, std::string_view column) {
  return TableError(table, fmt::format("unknown column: {}", column));
}

Status UnknownColumnInItems(std::string_view table, std::string_view column) {
  return TableError(table, fmt::format("parse error: unknown column: {}", column));
}

Status NoSuchTable(std::string_view table) {
  return Make(StatusCode::kNotFound, 1146, fmt::format("no such table '{}'", table));
}

Status UnknownLocalTables(std::string_view tables) {
  return Make(StatusCode::kNotFound, 1064,
              fmt::format("unknown local table(s) '{}' in search request", tables));
}

Status NoTablesUsed() { return Make(StatusCode::kInvalid, 1096, "no tables used: '*' needs FROM"); }

Status ColumnTwice(std::string_view column) {
  return Make(StatusCode::kInvalid, 1110, fmt::format("column '{}' specified twice", column));
}

Status NoSuchDatabase(std::string_view database) {
  return Make(StatusCode::kNotFound, 1046, fmt::format("no such database {}", database));
}

Status UnknownThread(uint64_t id) {
  return Make(StatusCode::kNotFound, 1094, fmt::format("unknown connection id: {}", id));
}

Status UnknownVariable(std::string_view name) {
  return Make(StatusCode::kNotFound, 1193, fmt::format("unknown system variable '{}'", name));
}

Status UnknownStatement(uint32_t id) {
  return Make(StatusCode::kNotFound, 1243, fmt::format("unknown prepared statement {}", id));
}

Status TableLocked(std::string_view table) {
  return Make(StatusCode::kInvalid, 1064, fmt::format("table '{}' is locked", table));
}

Status QueryInterrupted() { return Make(StatusCode::kCancelled, 1317, "query execution was interrupted"); }

Status TableError(std::string_view table, std::string_view text) {
  return Make(StatusCode::kInvalid, 1064, fmt::format("table {}: {}", table, text));
}

}  // namespace stoa::sql
