#pragma once

#include <memory>
#include <vector>

#include "sql/exec/row_source.h"

namespace stoa::sql {

// The open columns of a RowSource: each is opened on first use and kept over many batches, since a reader
// remembers where it is. What was read stays valid when its reader is closed. One thread at a time; the
// source must outlive it.
class SourceReaders {
 public:
  explicit SourceReaders(const RowSource& source) : source_(source) {}

  const RowSource& source() const { return source_; }
  Result<SourceReader*> Column(size_t part, size_t column);
  Status Read(size_t part, size_t column, std::span<const RowId> rows, Vector& out);
  // The document ids of rows, by which ties are broken; rows without ids count from 0.
  Status ReadIds(size_t part, std::span<const RowId> rows, Vector& out);
  // Closes everything: the scan goes on to another part.
  void Close();

 private:
  struct Open {
    size_t part;
    size_t column;
    std::unique_ptr<SourceReader> reader;
  };
  static constexpr size_t kMostOpen = 256;  // columns of parts; a gather visits many parts in turn

  const RowSource& source_;
  std::vector<Open> open_;  // by part, then column
};

}  // namespace stoa::sql
