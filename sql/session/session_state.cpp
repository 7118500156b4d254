#include "sql/session/session_state.h"

#include <algorithm>
#include <charconv>

#include "sql/session/system_variables.h"

namespace stoa::sql {

uint16_t StatementContext::warning_count() const {
  return static_cast<uint16_t>(std::min<size_t>(warnings.size(), UINT16_MAX));
}

std::shared_ptr<storage::Table> StatementContext::FindTable(const TableReference& table) {
  const bool known_database = table.database.empty() || table.database == "manticore";
  return known_database ? catalog().Find(table.name) : nullptr;
}

Status StatementContext::MissingTable(const TableReference& table, Status unknown) {
  const bool known_database = table.database.empty() || table.database == "manticore";
  Status usable = known_database ? catalog().CheckUsable(table.name) : Status::Ok();
  return usable.ok() ? std::move(unknown) : std::move(usable);
}

BindContext StatementContext::MakeBindContext(std::string table_name) {
  BindContext bind;
  bind.table_name = std::move(table_name);
  const auto text_of = [&](std::string_view name) {
    const auto value = SystemVariable(session, "", name);
    return value ? value->bytes : std::string();
  };
  if (const Result<Collation> collation = ParseCollation(text_of("collation_connection")); collation.ok()) {
    bind.collation = *collation;
  }
  if (const std::string timezone = text_of("timezone"); !timezone.empty()) {
    bind.timezone = timezone;
  }
  bind.now_micros = session.environment.clock->UnixMicros();
  bind.now_seconds = bind.now_micros / 1'000'000;
  bind.connection_id = session.connection_id;
  bind.user = session.user;
  bind.last_insert_id = session.last_insert_ids;
  bind.version = server().VersionString();
  // Two UUID_SHORT() of one microsecond and connection are told apart by the row.
  bind.uuid_short_seed = static_cast<uint64_t>(bind.now_micros) << 8 | (session.connection_id & 0xff);
  bind.rand_seed = static_cast<uint64_t>(bind.now_micros);
  return bind;
}

size_t LimitSetting(const Session::State& state, std::string_view name) {
  const Result<std::string> text = state.environment.server->Setting(name);
  size_t limit = 0;
  if (text.ok()) {
    std::from_chars(text->data(), text->data() + text->size(), limit);
  }
  return limit;
}

Status SendOk(StatementContext& context, uint64_t affected_rows, uint64_t last_insert_id) {
  OkInfo ok;
  ok.affected_rows = affected_rows;
  ok.last_insert_id = last_insert_id;
  ok.warnings = context.warning_count();
  ok.more_results = context.more_results;
  return context.sink.Ok(ok);
}

Status SendRows(StatementContext& context, const std::vector<std::string>& names,
                const std::vector<std::vector<Value>>& rows) {
  std::vector<ResultColumn> columns(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    columns[i].name = names[i];
  }
  RETURN_IF_ERROR(context.sink.Columns(columns));
  std::vector<Cell> cells(names.size());
  for (const std::vector<Value>& row : rows) {
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i] = Cell{row[i].type, row[i].integer, row[i].real, row[i].bytes};
    }
    RETURN_IF_ERROR(context.sink.Row(cells));
  }
  return context.sink.End({context.warning_count(), context.more_results, {}});
}

}  // namespace stoa::sql
