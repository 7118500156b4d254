#include "storage/column/file_column.h"

#include "storage/column/number_column.h"
#include "storage/column/set_column.h"
#include "storage/column/text_column.h"
#include "storage/column/vector_column.h"

namespace stoa::storage {

Status WriteFileColumn(const ColumnDefinition& column, ColumnInput& input, SectionFileWriter& file) {
  switch (column.type) {
    case ColumnType::kId:
    case ColumnType::kInt:
    case ColumnType::kBigint:
    case ColumnType::kBool:
    case ColumnType::kTimestamp:
    case ColumnType::kFloat:
      return WriteNumberColumn(column, input, file);
    case ColumnType::kString:
      return WriteTextColumn(column, input, file);
    case ColumnType::kMulti:
    case ColumnType::kMulti64:
      return WriteSetColumn(column, input, file);
    case ColumnType::kFloatVector:
    case ColumnType::kFloatVectorArray:
      return WriteVectorColumn(column, input, file);
    case ColumnType::kText:
    case ColumnType::kJson:
      break;
  }
  return InternalError("column '{}' has a type that columnar files do not hold", column.name);
}

// The info section tells what a column is. Texts come before numbers: the codes of a dictionary are a number
// column under the same key.
Result<std::shared_ptr<const FileColumn>> OpenFileColumn(std::shared_ptr<const OpenSectionFile> file,
                                                         ColumnId column) {
  const auto has = [&](SpcSection section) {
    return file->Has(static_cast<uint32_t>(section), column.value);
  };
  if (has(SpcSection::kTextInfo)) {
    return OpenTextColumn(std::move(file), column);
  }
  if (has(SpcSection::kSetInfo)) {
    return OpenSetColumn(std::move(file), column);
  }
  if (has(SpcSection::kVectorInfo)) {
    return OpenVectorColumn(std::move(file), column);
  }
  if (has(SpcSection::kColumn)) {
    return OpenNumberColumn(std::move(file), column);
  }
  return NotFoundError("{}: no column {}", file->path(), column.value);
}

}  // namespace stoa::storage
