#pragma once

#include <cstdint>

#include "storage/chunk/column_block.h"
#include "storage/column/column_predicate.h"

namespace stoa::storage {

// Clears the bits of the cells of a block that do not satisfy the predicate, as ColumnReader::Select(). Only
// the first `count` cells exist, the others hold the default value. False, with nothing done, when comparing
// values one by one is no better than what the caller can do himself.
bool SelectCells(const uint32_t* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits);
bool SelectCells(const int64_t* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits);
bool SelectCells(const uint64_t* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits);
bool SelectCells(const float* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits);
bool SelectCells(const BytesCell* cells, uint32_t count, const ColumnPredicate& predicate, BlockBits& bits);

}  // namespace stoa::storage
