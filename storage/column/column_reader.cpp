#include "storage/column/column_reader.h"

namespace stoa::storage {

char* ReadBuffer::Allocate(size_t bytes) {
  blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
  return blocks_.back().get();
}

Status ColumnReader::Select(uint32_t, const ColumnPredicate&, BlockBits&) {
  return InternalError("this column does not test its values");
}

}  // namespace stoa::storage
