#include "sql/statements/pending.h"

#include <algorithm>

#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

using storage::ColumnValues;
using storage::InsertRows;
using storage::TableChange;
using storage::WriteSet;

bool SameColumns(const std::vector<ColumnValues>& a, const std::vector<ColumnValues>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.column == y.column && x.type == y.type; });
}

void AppendValues(const ColumnValues& from, ColumnValues& to) {
  to.ints.insert(to.ints.end(), from.ints.begin(), from.ints.end());
  to.floats.insert(to.floats.end(), from.floats.begin(), from.floats.end());
  const uint64_t base = to.bytes.size();
  to.bytes.append(from.bytes);
  for (size_t i = 1; i < from.offsets.size(); ++i) {
    to.offsets.push_back(base + from.offsets[i]);
  }
}

bool JoinsLastInsert(const TableChange& change, const WriteSet& pending) {
  const auto* next = std::get_if<InsertRows>(&change.change);
  if (next == nullptr || pending.empty() || pending.back().table != change.table) {
    return false;
  }
  const auto* last = std::get_if<InsertRows>(&pending.back().change);
  return last != nullptr && last->replace == next->replace &&
         SameColumns(last->rows.columns, next->rows.columns);
}

std::span<const DocId> IdsOf(const storage::Change& change) {
  if (const auto* insert = std::get_if<InsertRows>(&change)) {
    return insert->rows.ids;
  }
  if (const auto* remove = std::get_if<storage::DeleteRows>(&change)) {
    return remove->ids;
  }
  return std::get<storage::UpdateRows>(change).ids;
}

const ColumnValues* FindColumn(const std::vector<ColumnValues>& columns, ColumnId id) {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [id](const auto& c) { return c.column == id; });
  return found == columns.end() ? nullptr : &*found;
}

}  // namespace

bool WritesArePending(const Session::State& session) { return session.in_transaction || !session.autocommit; }

void AddPending(TableChange change, Session::State& session) {
  session.in_transaction = true;
  if (!JoinsLastInsert(change, session.pending)) {
    session.pending.push_back(std::move(change));
    return;
  }
  storage::RowBatch& rows = std::get<InsertRows>(session.pending.back().change).rows;
  const storage::RowBatch& more = std::get<InsertRows>(change.change).rows;
  rows.ids.insert(rows.ids.end(), more.ids.begin(), more.ids.end());
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    AppendValues(more.columns[i], rows.columns[i]);
  }
}

PendingRows::PendingRows(const WriteSet& pending, const storage::Table& table, std::span<const DocId> ids) {
  std::vector<DocId> wanted(ids.begin(), ids.end());
  std::sort(wanted.begin(), wanted.end());
  for (const TableChange& change : pending) {
    if (change.table.get() != &table || std::holds_alternative<storage::UpdateRows>(change.change)) {
      continue;
    }
    const bool present = std::holds_alternative<InsertRows>(change.change);
    for (const DocId id : IdsOf(change.change)) {
      if (std::binary_search(wanted.begin(), wanted.end(), id)) {
        states_[id] = present ? State::kPresent : State::kAbsent;
      }
    }
  }
}

PendingRows::State PendingRows::StateOf(DocId id) const {
  const auto found = states_.find(id);
  return found == states_.end() ? State::kUntouched : found->second;
}

Status CheckDuplicates(const WriteSet& pending, const storage::Table& table,
                       const storage::TableSnapshot& snapshot, std::span<const DocId> ids) {
  std::vector<DocId> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return ExistsError("duplicate id '{}'", twice->value);
  }
  const PendingRows rows(pending, table, ids);
  for (const DocId id : ids) {
    const PendingRows::State state = rows.StateOf(id);
    bool exists = state == PendingRows::State::kPresent;
    if (state == PendingRows::State::kUntouched) {
      ASSIGN_OR_RETURN(const std::optional<storage::RowLocation> row, snapshot.FindDocument(id));
      exists = row.has_value();
    }
    if (exists) {
      return ExistsError("duplicate id '{}'", id.value);
    }
  }
  return Status::Ok();
}

std::optional<std::string_view> PendingBytes(const WriteSet& pending, const storage::Table& table,
                                             ColumnId column, DocId id) {
  for (auto change = pending.rbegin(); change != pending.rend(); ++change) {
    if (change->table.get() != &table || std::holds_alternative<storage::DeleteRows>(change->change)) {
      continue;
    }
    const auto* insert = std::get_if<InsertRows>(&change->change);
    const auto& columns =
        insert ? insert->rows.columns : std::get<storage::UpdateRows>(change->change).columns;
    const ColumnValues* values = FindColumn(columns, column);
    if (values == nullptr && insert == nullptr) {
      continue;
    }
    const std::span<const DocId> ids = IdsOf(change->change);
    const auto found = std::find(ids.rbegin(), ids.rend(), id);
    if (found != ids.rend()) {
      const size_t row = static_cast<size_t>(ids.rend() - found) - 1;
      return values == nullptr ? std::string_view() : values->BytesAt(row);
    }
  }
  return std::nullopt;
}

Status CheckWritable(const storage::Table& table, std::string_view request) {
  const std::shared_ptr<const storage::TableDefinition> definition = table.definition();
  switch (definition->kind) {
    case storage::TableKind::kRealTime:
      break;
    case storage::TableKind::kPercolate:
      return NotSupportedYet(fmt::format("{} on a percolate table", request));
    case storage::TableKind::kDistributed:
      return NotSupportedYet(fmt::format("{} on a distributed table", request));
  }
  return table.read_locked() ? TableLocked(definition->name) : Status::Ok();
}

}  // namespace stoa::sql
