#include "sql/sql_error.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

Status RequireRealTime(std::string_view statement, const TableReference& reference,
                       StatementContext& context) {
  const auto table = context.FindTable(reference);
  if (table == nullptr || table->definition()->kind != storage::TableKind::kRealTime) {
    return context.MissingTable(
        reference, SyntaxError(fmt::format("{} requires an existing RT table, '{}' is none", statement,
                                           reference.name)));
  }
  return Status::Ok();
}

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
  if (ram_chunk) {
    return NotSupportedYet("FLUSH RAMCHUNK");
  }
  for (const TableReference& table : statement.tables) {
    RETURN_IF_ERROR(context.catalog().FlushTable(table.name));
  }
  return SendOk(context);
}

Status ExecuteOptimize(const OptimizeStatement& statement, StatementContext& context) {
  RETURN_IF_ERROR(RequireRealTime("OPTIMIZE TABLE", statement.table, context));
  return NotSupportedYet("OPTIMIZE TABLE");
}

}  // namespace stoa::sql
