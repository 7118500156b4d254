#pragma once

#include <span>
#include <string_view>
#include <unordered_map>

#include "sql/session/session_state.h"

namespace stoa::sql {

// The changes of an open transaction (Session::State::pending): not yet visible to anyone, its own session
// included.

// Whether writes of this session wait for COMMIT.
bool WritesArePending(const Session::State& session);

// Adds a change to the open transaction, which begins with it when autocommit is off. Rows of an INSERT join
// those of the INSERT before when table and columns are the same.
void AddPending(storage::TableChange change, Session::State& session);

// What the pending changes of one table make of some documents.
class PendingRows {
 public:
  enum class State : uint8_t { kUntouched, kPresent, kAbsent };

  PendingRows(const storage::WriteSet& pending, const storage::Table& table, std::span<const DocId> ids);

  State StateOf(DocId id) const;

 private:
  std::unordered_map<DocId, State> states_;
};

// kExists "duplicate id '7'" when one of `ids` is in the snapshot or the pending changes, or twice in itself.
Status CheckDuplicates(const storage::WriteSet& pending, const storage::Table& table,
                       const storage::TableSnapshot& snapshot, std::span<const DocId> ids);

// The value that pending changes give a kBytes column of a document; none when they do not touch it.
std::optional<std::string_view> PendingBytes(const storage::WriteSet& pending, const storage::Table& table,
                                             ColumnId column, DocId id);

// Refuses tables that cannot be written to: other kinds, read locks. `request` is "insert", "update",
// "delete".
Status CheckWritable(const storage::Table& table, std::string_view request);

}  // namespace stoa::sql
