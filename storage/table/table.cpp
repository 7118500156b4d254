#include "storage/table/table.h"

namespace stoa::storage {

Table::Table(std::shared_ptr<const TableSnapshot> first)
    : lock_order_(first->definition->id.value), head_(first), published_(std::move(first)) {}

}  // namespace stoa::storage
