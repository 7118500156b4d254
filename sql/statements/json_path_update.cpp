#include "sql/statements/json_path_update.h"

#include <algorithm>

#include "sql/statements/literal.h"
#include "sql/statements/pending.h"

namespace stoa::sql {
namespace {

using storage::ColumnValues;

constexpr uint64_t kMostInt64 = static_cast<uint64_t>(INT64_MAX);

Result<std::string> SetPart(const std::string& stored, const JsonPathUpdate& update) {
  if (update.value->kind == ParsedKind::kString) {
    return storage::UpdateJsonString(stored, *update.path, update.value->text);
  }
  Number number;
  if (!ReadNumber(*update.value, number)) {
    return NotFoundError("no part of a JSON value can hold this");
  }
  if (number.integer && number.magnitude <= kMostInt64) {
    const auto magnitude = static_cast<int64_t>(number.magnitude);
    return storage::UpdateJsonNumber(stored, *update.path, number.negative ? -magnitude : magnitude);
  }
  return storage::UpdateJsonNumber(stored, *update.path, number.AsDouble());
}

struct Outcome {
  bool applied = false;
  bool refused = false;
};

std::vector<ColumnId> ColumnsOf(const std::vector<JsonPathUpdate>& updates) {
  std::vector<ColumnId> columns;
  for (const JsonPathUpdate& update : updates) {
    if (std::find(columns.begin(), columns.end(), update.column) == columns.end()) {
      columns.push_back(update.column);
    }
  }
  return columns;
}

}  // namespace

Result<std::vector<ColumnValues>> JsonPathUpdater::Apply(const std::vector<JsonPathUpdate>& updates,
                                                         const std::vector<DocId>& ids) {
  std::vector<Outcome> outcomes(updates.size());
  std::vector<ColumnValues> columns;
  for (const ColumnId column_id : ColumnsOf(updates)) {
    const auto& column =
        snapshot_.definition->columns[static_cast<size_t>(snapshot_.definition->IndexOf(column_id))];
    readers_.clear();
    readers_.resize(snapshot_.parts.size());
    ColumnValues& values = columns.emplace_back();
    values.column = column_id;
    values.type = column.type;
    for (const DocId id : ids) {
      ASSIGN_OR_RETURN(std::string stored, CurrentValue(column, id));
      for (size_t i = 0; i < updates.size(); ++i) {
        if (updates[i].column != column_id) {
          continue;
        }
        Result<std::string> next = SetPart(stored, updates[i]);
        (next.ok() ? outcomes[i].applied : outcomes[i].refused) = true;
        if (next.ok()) {
          stored = std::move(next).value();
        }
      }
      values.AppendBytes(stored);
    }
  }
  const auto count = [&outcomes](auto test) {
    return static_cast<size_t>(std::count_if(outcomes.begin(), outcomes.end(), test));
  };
  refused_everywhere_ = count([](const Outcome& o) { return o.refused && !o.applied; });
  refused_somewhere_ = count([](const Outcome& o) { return o.refused; });
  return columns;
}

Result<std::string> JsonPathUpdater::CurrentValue(const storage::ColumnDefinition& column, DocId id) {
  if (const std::optional<std::string_view> pending = PendingBytes(pending_, table_, column.id, id)) {
    return std::string(*pending);
  }
  ASSIGN_OR_RETURN(const std::optional<storage::RowLocation> place, snapshot_.FindDocument(id));
  if (!place) {
    return std::string();
  }
  std::unique_ptr<storage::ColumnReader>& reader = readers_[place->part];
  if (reader == nullptr) {
    ASSIGN_OR_RETURN(reader, snapshot_.parts[place->part]->Column(column));
  }
  std::string_view value;
  storage::ReadBuffer buffer;
  RETURN_IF_ERROR(reader->ReadBytes({&place->row, 1}, {&value, 1}, buffer));
  return std::string(value);
}

}  // namespace stoa::sql
