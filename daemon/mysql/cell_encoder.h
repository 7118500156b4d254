#pragma once

#include <span>
#include <string>

#include "sql/session/result_sink.h"

namespace stoa::daemon {

// The text of a cell that is not NULL.
void AppendCellText(const sql::Cell& cell, std::string& out);

// Payload of a row in the text protocol.
void AppendTextRow(std::span<const sql::Cell> cells, std::string& out);
// Payload of a row in the binary protocol; each cell is converted to its column's type.
void AppendBinaryRow(std::span<const sql::Cell> cells, std::span<const sql::ValueType> types,
                     std::string& out);

}  // namespace stoa::daemon
