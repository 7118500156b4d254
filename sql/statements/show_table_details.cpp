#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/display_order.h"
#include "sql/statements/show_rows.h"

// SHOW TABLE t STATUS | SETTINGS | INDEXES.
namespace stoa::sql {
namespace {

using storage::ColumnType;
using storage::TableDefinition;
using storage::TableKind;
using storage::TableSnapshot;

constexpr std::string_view kDefaultMemoryLimit = "134217728";
constexpr std::string_view kNoQueries =
    R"({"queries":0, "avg":"-", "min":"-", "max":"-", "pct95":"-", "pct99":"-"})";

std::string Number(uint64_t value) { return std::to_string(value); }

void AddTimes(std::string_view prefix, ShowRows& answer) {
  for (const std::string_view span : {"1min", "5min", "15min", "total"}) {
    answer.Add({fmt::format("{}_{}", prefix, span), kNoQueries});
  }
}

void AddParts(const TableSnapshot& snapshot, ShowRows& answer) {
  uint64_t live = 0;
  uint64_t killed = 0;
  uint64_t ram = 0;
  uint64_t segments = 0;
  uint64_t chunks = 0;
  for (const auto& part : snapshot.parts) {
    live += part->live_count();
    killed += part->deleted().count();
    ram += part->ram_bytes();
    (part->is_disk_chunk() ? chunks : segments) += 1;
  }
  const uint64_t rows = live + killed;
  const auto limit = snapshot.definition->settings.find("rt_mem_limit");
  answer.Add({"ram_bytes", Number(ram)});
  answer.Add({"killed_documents", Number(killed)});
  answer.Add({"killed_rate", fmt::format("{:.2f}%", rows == 0 ? 0.0
                                                              : 100.0 * static_cast<double>(killed) /
                                                                    static_cast<double>(rows))});
  answer.Add({"ram_chunk", Number(ram)});
  answer.Add({"ram_chunk_segments_count", Number(segments)});
  answer.Add({"disk_chunks", Number(chunks)});
  answer.Add(
      {"mem_limit", limit == snapshot.definition->settings.end() ? kDefaultMemoryLimit : limit->second});
  answer.Add({"mem_limit_rate", "95.00%"});
  answer.Add({"ram_bytes_retired", "0"});
  answer.Add({"optimizing", "0"});
}

Result<ShowRows> TableStatusOf(const storage::Table& table, StatementContext& context) {
  const auto snapshot = table.Snapshot();
  ShowRows answer({"Variable_name", "Value"});
  answer.Add({"table_type", TableKindName(snapshot->definition->kind)});
  if (snapshot->definition->kind != TableKind::kDistributed) {
    const uint64_t disk = context.catalog().DiskBytes(table);
    answer.Add({"indexed_documents", Number(snapshot->live_count())});
    answer.Add({"indexed_bytes", "0"});
    answer.Add({"disk_bytes", Number(disk)});
    answer.Add({"disk_mapped", "0"});
    AddParts(*snapshot, answer);
    answer.Add({"locked", table.read_locked() ? "1" : "0"});
    answer.Add({"tid", "0"});
    answer.Add({"tid_saved", "0"});
  }
  AddTimes("query_time", answer);
  AddTimes("exact_query_time", answer);
  AddTimes("found_rows", answer);
  return answer;
}

// One row of config-style text, in the order the settings were given.
ShowRows TableSettings(const TableDefinition& definition) {
  std::string text;
  for (const std::string& name : definition.setting_order) {
    const auto setting = definition.settings.find(name);
    if (setting == definition.settings.end()) {
      continue;
    }
    // Repeated settings hold one value a line.
    std::string_view values = setting->second;
    do {
      const size_t end = std::min(values.find('\n'), values.size());
      text += fmt::format("{}{} = {}", text.empty() ? "" : "\n", name, values.substr(0, end));
      values.remove_prefix(std::min(end + 1, values.size()));
    } while (!values.empty());
  }
  ShowRows answer({"Variable_name", "Value"});
  answer.Add({"settings", text});
  return answer;
}

bool CanHaveSecondaryIndex(const storage::ColumnDefinition& column) {
  switch (column.type) {
    case ColumnType::kText:
    case ColumnType::kFloatVector:
    case ColumnType::kFloatVectorArray:
      return false;
    case ColumnType::kJson:
      return column.secondary_index;
    default:
      return true;
  }
}

// Secondary indexes belong to disk chunks; a table that is all in RAM has none.
ShowRows TableIndexes(const TableSnapshot& snapshot) {
  ShowRows answer({"Name", "Type", "Enabled", "Percent"});
  const bool on_disk = std::any_of(snapshot.parts.begin(), snapshot.parts.end(),
                                   [](const auto& part) { return part->is_disk_chunk(); });
  if (!on_disk) {
    return answer;
  }
  for (const storage::ColumnDefinition* column : DisplayOrder(*snapshot.definition)) {
    if (CanHaveSecondaryIndex(*column)) {
      answer.Add({column->name, storage::DescribeType(*column), "1", "100"});
    }
  }
  return answer;
}

}  // namespace

Result<ShowRows> ShowTableDetails(const ShowStatement& show, StatementContext& context) {
  const auto table = context.FindTable(show.table);
  if (table == nullptr) {
    const std::string_view subject = show.what == "table_status_of"  ? "STATUS"
                                     : show.what == "table_settings" ? "SETTINGS"
                                                                     : "INDEXES";
    return context.MissingTable(
        show.table, SyntaxError(fmt::format("SHOW TABLE {} requires an existing table, no such table '{}'",
                                            subject, show.table.name)));
  }
  const auto snapshot = table->Snapshot();
  if (show.chunk) {
    const auto chunks =
        static_cast<uint64_t>(std::count_if(snapshot->parts.begin(), snapshot->parts.end(),
                                            [](const auto& part) { return part->is_disk_chunk(); }));
    if (*show.chunk >= chunks) {
      return SyntaxError(
          fmt::format("table '{}' has no chunk {} (it has {})", show.table.name, *show.chunk, chunks));
    }
  }
  if (show.what == "table_settings") {
    return TableSettings(*snapshot->definition);
  }
  return show.what == "table_indexes" ? TableIndexes(*snapshot) : TableStatusOf(*table, context);
}

}  // namespace stoa::sql
