#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

// Every error a SQL user sees: MySQL number, SQLSTATE, text (STYLE 13). docs/errors.md is generated from
// sql_error.cpp.
namespace stoa::sql {

// The MySQL error number of a status: the one it carries, else by its code (1064 for most).
uint16_t ErrorNumber(const Status& status);
// Five characters, e.g. "42000".
std::string_view SqlState(uint16_t number);
// One line, at most 512 bytes cut at a UTF-8 border.
std::string ErrorText(const Status& status);

Status SyntaxError(std::string text);                                   // 1064, text already complete
Status NotSupportedYet(std::string_view what);                          // 1235 "X is not supported yet"
Status UnknownColumn(std::string_view table, std::string_view column);  // 1064 table t: unknown column: c
Status UnknownColumnInItems(std::string_view table,
                            std::string_view column);  // table t: parse error: unknown column: c
Status NoSuchTable(std::string_view table);            // 1146 no such table 't'
Status UnknownLocalTables(std::string_view tables);    // 1064 unknown local table(s) 't' in search request
Status NoTablesUsed();                                 // 1096 no tables used
Status ColumnTwice(std::string_view column);           // 1110
Status NoSuchDatabase(std::string_view database);      // 1046
Status UnknownThread(uint64_t id);                     // 1094
Status UnknownVariable(std::string_view name);         // 1193 in SELECT; SET GLOBAL has 1064
Status UnknownStatement(uint32_t id);                  // 1243
Status TableLocked(std::string_view table);            // 1064 table 't' is locked
Status QueryInterrupted();                             // 1317
// "table t: <text>", 1064.
Status TableError(std::string_view table, std::string_view text);

}  // namespace stoa::sql
