#include "storage/column/column_reader.h"

namespace stoa::storage {

char* ReadBuffer::Allocate(size_t bytes) {
  blocks_.emplace_back(bytes, '\0');
  return blocks_.back().data();
}

}  // namespace stoa::storage
