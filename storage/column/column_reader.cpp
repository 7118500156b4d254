#include "storage/column/column_reader.h"

namespace stoa::storage {

char* ReadBuffer::Allocate(size_t bytes) {
  blocks_.emplace_back(bytes, '\0');
  return blocks_.back().data();
}

Status ColumnReader::Select(uint32_t, const ColumnPredicate&, BlockBits&) {
  return InternalError("this column does not test its values");
}

}  // namespace stoa::storage
