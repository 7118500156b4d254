#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/show_rows.h"

// SHOW TABLE t STATUS | SETTINGS | INDEXES.
namespace stoa::sql {
namespace {

using storage::TableDefinition;
using storage::TableKind;
using storage::TableSnapshot;
using storage::TableStatistics;

constexpr std::string_view kNoQueries =
    R"({"queries":0, "avg":"-", "min":"-", "max":"-", "pct95":"-", "pct99":"-"})";

std::string Number(uint64_t value) { return std::to_string(value); }

void AddTimes(std::string_view prefix, ShowRows& answer) {
  for (const std::string_view span : {"1min", "5min", "15min", "total"}) {
    answer.Add({fmt::format("{}_{}", prefix, span), kNoQueries});
  }
}

// Shares of the chunk files, by suffix: mapped, and of that resident in memory.
void AddMapped(const TableStatistics& statistics, ShowRows& answer) {
  const auto add = [&](std::string_view what, std::string_view suffix) {
    uint64_t mapped = 0;
    uint64_t resident = 0;
    for (const storage::ChunkFileInfo& file : statistics.files) {
      if (file.name.ends_with(suffix)) {
        mapped += file.mapped_bytes;
        resident += std::min(file.resident_bytes, file.mapped_bytes);  // whole pages, also the last one
      }
    }
    answer.Add({fmt::format("disk_mapped{}", what), Number(mapped)});
    answer.Add({fmt::format("disk_mapped_cached{}", what), Number(resident)});
  };
  add("", "");
  add("_doclists", ".spd");
  add("_hitlists", ".spp");
}

void AddKilled(uint64_t killed, uint64_t live, ShowRows& answer) {
  const uint64_t rows = live + killed;
  const double rate = rows == 0 ? 0.0 : 100.0 * static_cast<double>(killed) / static_cast<double>(rows);
  answer.Add({"killed_documents", Number(killed)});
  answer.Add({"killed_rate", fmt::format("{:.2f}%", rate)});
}

void AddParts(const TableSnapshot& snapshot, const TableStatistics& statistics, ShowRows& answer) {
  uint64_t killed = 0;
  uint64_t segments = 0;
  uint64_t chunks = 0;
  for (const auto& part : snapshot.parts) {
    killed += part->deleted().count();
    (part->is_disk_chunk() ? chunks : segments) += 1;
  }
  AddKilled(killed, snapshot.live_count(), answer);
  answer.Add({"ram_chunk", Number(statistics.ram_bytes)});
  answer.Add({"ram_chunk_segments_count", Number(segments)});
  answer.Add({"disk_chunks", Number(chunks)});
  answer.Add({"mem_limit", Number(statistics.mem_limit)});
  answer.Add({"mem_limit_rate", fmt::format("{:.2f}%", 100.0 * statistics.mem_limit_rate)});
  answer.Add({"ram_bytes_retired", "0"});  // memory of old segments goes with the last query that reads them
  answer.Add({"optimizing", statistics.optimizing ? "1" : "0"});
}

Result<ShowRows> TableStatusOf(const storage::Table& table, StatementContext& context) {
  const auto snapshot = table.Snapshot();
  ShowRows answer({"Variable_name", "Value"});
  answer.Add({"table_type", TableKindName(snapshot->definition->kind)});
  if (snapshot->definition->kind != TableKind::kDistributed) {
    const TableStatistics statistics = context.catalog().Statistics(table);
    answer.Add({"indexed_documents", Number(snapshot->live_count())});
    answer.Add({"indexed_bytes", Number(statistics.text_bytes)});
    answer.Add({"ram_bytes", Number(statistics.ram_bytes + statistics.chunk_ram_bytes)});
    answer.Add({"disk_bytes", Number(context.catalog().DiskBytes(table))});
    AddMapped(statistics, answer);
    AddParts(*snapshot, statistics, answer);
    answer.Add({"locked", table.read_locked() || statistics.frozen ? "1" : "0"});
    answer.Add({"tid", Number(statistics.transaction)});
    answer.Add({"tid_saved", Number(statistics.saved_transaction)});
  }
  AddTimes("query_time", answer);
  AddTimes("exact_query_time", answer);
  AddTimes("found_rows", answer);
  return answer;
}

// SHOW TABLE t CHUNK n STATUS.
Result<ShowRows> ChunkStatus(const storage::Table& table, uint64_t index, StatementContext& context) {
  const TableStatistics statistics = context.catalog().Statistics(table);
  if (index >= statistics.chunks.size()) {
    return SyntaxError(fmt::format("table '{}' has no chunk {} (it has {})", table.definition()->name, index,
                                   statistics.chunks.size()));
  }
  const TableStatistics::Chunk& chunk = statistics.chunks[index];
  const uint64_t live = chunk.rows - std::min(chunk.rows, chunk.deleted);
  ShowRows answer({"Variable_name", "Value"});
  answer.Add({"table_type", "disk"});
  answer.Add({"chunk_id", Number(chunk.id.value)});
  answer.Add({"indexed_documents", Number(live)});
  answer.Add({"disk_bytes", Number(chunk.disk_bytes)});
  AddKilled(chunk.deleted, live, answer);
  answer.Add({"updated_values", Number(chunk.patched_values)});
  answer.Add({"optimizing", chunk.merging ? "1" : "0"});
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
  if (show.what == "table_indexes") {
    return ShowRows({"Name", "Type", "Enabled", "Percent"});  // there are no secondary indexes yet
  }
  if (show.what == "table_settings") {
    return TableSettings(*table->definition());
  }
  return show.chunk ? ChunkStatus(*table, *show.chunk, context) : TableStatusOf(*table, context);
}

}  // namespace stoa::sql
