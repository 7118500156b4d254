#pragma once

#include <memory>
#include <vector>

#include "storage/chunk/rowwise_file.h"
#include "storage/chunk/rowwise_layout.h"
#include "storage/column/column_reader.h"

namespace stoa::storage {

// The open files as its readers see them. Immutable and safe to share; addresses are stable.
struct RowwiseSections {
  RowwiseLayout layout;
  SectionBytes rows;
  uint64_t rows_page = 0;  // bytes that share a checksum
  SectionBytes blobs;      // only when the layout has blobs
};

// Reads one column of a row-wise file. One thread at a time.
class RowwiseReader : public ColumnReader {
 public:
  // `sections` and `column` live as long as `owner`.
  RowwiseReader(std::shared_ptr<const RowwiseFile> owner, const RowwiseSections& sections,
                const RowwiseColumn& column, ColumnType type)
      : owner_(std::move(owner)), sections_(sections), column_(column), type_(type) {}

  ColumnType type() const override { return type_; }
  Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) override;
  Status ReadFloats(std::span<const RowId> rows, std::span<float> values) override;
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override;

 private:
  // Checks the pages of the cells of these rows.
  Status Touch(std::span<const RowId> rows, Lane lane);
  void AskForRows(std::span<const RowId> rows);
  const char* CellOf(RowId row) const {
    return sections_.rows.address() + uint64_t{row.value} * sections_.layout.stride + column_.offset;
  }
  Status LoadReferences(std::span<const RowId> rows);
  void AskForBlobs();

  std::shared_ptr<const RowwiseFile> owner_;
  const RowwiseSections& sections_;
  const RowwiseColumn& column_;
  ColumnType type_;
  std::vector<BlobReference> references_;
  std::vector<ByteRange> ranges_;
};

}  // namespace stoa::storage
