#include "sql/exec/grouper.h"

#include <numeric>

#include "sql/exec/value_key.h"

namespace stoa::sql {

using storage::JsonKind;
using storage::JsonView;

Grouper::Grouper(Options options, std::vector<AggregateCall>& aggregates)
    : options_(std::move(options)), aggregates_(aggregates) {
  for (const SharedExpr& key : options_.keys) {
    expands_ = expands_ || IsExpandable(key->type());
  }
  single_int_key_ = options_.keys.size() == 1 && LaneOf(options_.keys[0]->type()) == VectorLane::kInt &&
                    !options_.keep_key_values;
  if (options_.keys.empty()) {
    NewGroup();
    for (AggregateCall& call : aggregates_) {
      call.state->Resize(1);
    }
  }
}

uint32_t Grouper::NewGroup() {
  if (options_.rows_per_group == 1 && options_.within_order.empty()) {
    best_.emplace_back();
  } else {
    tops_.emplace_back(options_.within_order, options_.collation, options_.rows_per_group);
  }
  return static_cast<uint32_t>(group_count_++);
}

uint32_t Grouper::GroupOf(std::string_view key) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    return found->second;
  }
  const uint32_t group = NewGroup();
  by_key_.emplace(std::string(key), group);
  return group;
}

void Grouper::FindGroups(const std::vector<Vector>& keys, size_t rows) {
  groups_.clear();
  rows_.clear();
  if (keys.empty()) {
    groups_.assign(rows, 0);
    rows_.resize(rows);
    std::iota(rows_.begin(), rows_.end(), 0u);
    return;
  }
  if (single_int_key_ && !keys[0].has_nulls()) {
    for (uint32_t row = 0; row < rows; ++row) {
      const auto [found, is_new] = by_int_.try_emplace(keys[0].ints()[row], 0u);
      if (is_new) {
        found->second = NewGroup();
      }
      groups_.push_back(found->second);
      rows_.push_back(row);
    }
    return;
  }
  std::string key;
  std::vector<Value> values;
  for (uint32_t row = 0; row < rows; ++row) {
    AddExpanded(keys, row, 0, key, values);
  }
}

// Adds the row to the group of every combination of its keys' items. Each key is written with its length in
// front, so that the parts of a compound key cannot run into each other.
void Grouper::AddExpanded(const std::vector<Vector>& keys, uint32_t row, size_t depth, std::string& key,
                          std::vector<Value>& values) {
  if (depth == keys.size()) {
    const size_t before = group_count_;
    groups_.push_back(GroupOf(key));
    rows_.push_back(row);
    if (options_.keep_key_values && group_count_ > before) {
      key_values_.push_back(values);
    }
    return;
  }
  const Vector& vector = keys[depth];
  const size_t start = key.size();
  const auto descend = [&](std::string_view part, Value value) {
    const auto length = static_cast<uint32_t>(part.size());
    key.append(reinterpret_cast<const char*>(&length), sizeof(length));
    key.append(part);
    values.push_back(std::move(value));
    AddExpanded(keys, row, depth + 1, key, values);
    values.pop_back();
    key.resize(start);
  };
  const bool is_array = vector.type() == ValueType::kJson && !vector.IsNull(row) &&
                        JsonView(vector.texts()[row]).kind() == JsonKind::kArray;
  ForEachKey(vector, row, options_.collation, [&](std::string_view part) {
    Value value;
    if (options_.keep_key_values) {
      if (vector.type() == ValueType::kMulti || vector.type() == ValueType::kMulti64) {
        int64_t item = 0;
        std::memcpy(&item, part.data() + 1, sizeof(item));
        value = Value::Bigint(item);
      } else if (is_array) {
        value = Value{ValueType::kJson, 0, 0, std::string(part.substr(1))};
      } else {
        value = IsNullValue(vector, row) ? Value::Null() : vector.At(row);
      }
    }
    descend(part, std::move(value));
  });
}

Status Grouper::KeepRows(ScanBatch& batch) {
  ASSIGN_OR_RETURN(const auto ids, batch.Ids());
  const auto part = static_cast<uint32_t>(batch.part());
  if (tops_.empty()) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      BestRow& best = best_[groups_[i]];
      const uint64_t id = ids[rows_[i]];
      if (!best.row.exists() || id < best.id) {
        best = {{part, batch.rows()[rows_[i]]}, id};
      }
    }
    return Status::Ok();
  }
  std::vector<Vector> order;
  RETURN_IF_ERROR(EvaluateKeys(options_.within_order, batch, order));
  for (size_t i = 0; i < groups_.size(); ++i) {
    tops_[groups_[i]].Add(order, rows_[i], {part, batch.rows()[rows_[i]]}, ids[rows_[i]]);
  }
  return Status::Ok();
}

Status Grouper::UpdateAggregates(ScanBatch& batch) {
  Vector argument;
  for (AggregateCall& call : aggregates_) {
    call.state->Resize(group_count_);
    if (call.argument != nullptr) {
      RETURN_IF_ERROR(call.argument->Evaluate(batch, argument));
    }
    call.state->Update({groups_, rows_}, argument);
  }
  return Status::Ok();
}

Status Grouper::Add(ScanBatch& batch) {
  std::vector<Vector> keys(options_.keys.size());
  for (size_t k = 0; k < keys.size(); ++k) {
    RETURN_IF_ERROR(options_.keys[k]->Evaluate(batch, keys[k]));
  }
  FindGroups(keys, batch.size());
  RETURN_IF_ERROR(KeepRows(batch));
  return UpdateAggregates(batch);
}

std::vector<RowRef> Grouper::TakeRows(uint32_t group) {
  if (tops_.empty()) {
    return {best_[group].row};
  }
  std::vector<RowRef> rows;
  for (const RankedRow& row : tops_[group].Take()) {
    rows.push_back(row.row);
  }
  return rows;
}

uint64_t Grouper::FirstId(uint32_t group) const { return tops_.empty() ? best_[group].id : group; }

Status Grouper::ReadGroups(const SlotInfo& slot, std::span<const uint32_t> groups, Vector& out) const {
  if (slot.kind == SlotInfo::Kind::kAggregate) {
    aggregates_[slot.index].state->Read(groups, out);
    return Status::Ok();
  }
  out.Reset(slot.type, groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    out.Set(i, key_values_[groups[i]][slot.index]);
  }
  return Status::Ok();
}

}  // namespace stoa::sql
