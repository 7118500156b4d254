#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

// A tag that grows with what was committed: equal tags, nothing new to write.
Status FlushAttributes(StatementContext& context) {
  std::vector<ResultColumn> columns(1);
  columns[0].name = "tag";
  columns[0].type = ValueType::kInt;
  RETURN_IF_ERROR(context.sink.Columns(columns));
  const Cell cell{
      ValueType::kInt, static_cast<int64_t>(context.catalog().counters().commits & 0xffffffff), 0, {}};
  RETURN_IF_ERROR(context.sink.Row({&cell, 1}));
  return context.sink.End({context.warning_count(), context.more_results, {}});
}

}  // namespace

Status ExecuteFlush(const FlushStatement& statement, StatementContext& context) {
  if (statement.what == "attributes") {
    return FlushAttributes(context);
  }
  if (statement.what.ends_with("logs")) {
    RETURN_IF_ERROR(context.server().FlushLogs());
    return SendOk(context);
  }
  const bool ram_chunk = statement.what == "ramchunk";
  for (const TableReference& table : statement.tables) {
    RETURN_IF_ERROR(RequireRealTime(ram_chunk ? "FLUSH RAMCHUNK" : "FLUSH TABLE", table, context));
  }
  for (const TableReference& table : statement.tables) {
    RETURN_IF_ERROR(context.cancel.Check());
    RETURN_IF_ERROR(ram_chunk ? context.catalog().FlushRamChunk(table.name)
                              : context.catalog().FlushTable(table.name));
  }
  return SendOk(context);
}

}  // namespace stoa::sql
