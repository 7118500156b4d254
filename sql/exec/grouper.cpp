#include "sql/exec/grouper.h"

#include <numeric>

#include "sql/exec/value_key.h"

namespace stoa::sql {

using storage::JsonKind;
using storage::JsonView;

Grouper::Grouper(Options options, std::vector<AggregateCall>& aggregates)
    : options_(std::move(options)),
      aggregates_(aggregates),
      by_text_(0, TextHash{options_.collation}, TextEqual{options_.collation}),
      keys_(options_.keys.size()),
      arguments_(aggregates.size()),
      order_(options_.within_order.size()) {
  if (options_.keys.empty()) {
    form_ = Form::kWhole;
    NewGroup();
    for (AggregateCall& call : aggregates_) {
      call.state->Resize(1);
    }
  } else if (options_.keys.size() == 1 && !options_.keep_key_values) {
    const ValueType type = options_.keys[0]->type();
    if (LaneOf(type) == VectorLane::kInt) {
      form_ = Form::kInt;
    } else if (type == ValueType::kString) {
      form_ = Form::kText;
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

uint32_t Grouper::GroupOfInt(int64_t key) {
  const auto [found, is_new] = by_int_.try_emplace(key, 0u);
  if (is_new) {
    found->second = NewGroup();
  }
  return found->second;
}

uint32_t Grouper::GroupOfText(std::string_view key) {
  if (const auto found = by_text_.find(key); found != by_text_.end()) {
    return found->second;
  }
  const uint32_t group = NewGroup();
  by_text_.emplace(std::string(key), group);
  return group;
}

uint32_t Grouper::GroupOfNull() {
  if (!null_group_) {
    null_group_ = NewGroup();
  }
  return *null_group_;
}

template <typename FindGroup>
void Grouper::FindByOneKey(size_t rows, const FindGroup& find) {
  const Vector& key = keys_[0];
  groups_.resize(rows);
  if (!key.has_nulls()) {
    for (size_t row = 0; row < rows; ++row) {
      groups_[row] = find(row);
    }
    return;
  }
  for (size_t row = 0; row < rows; ++row) {
    groups_[row] = key.IsNull(row) ? GroupOfNull() : find(row);
  }
}

void Grouper::FindGroups(size_t rows) {
  if (form_ == Form::kAny) {
    groups_.clear();
    rows_.clear();
    std::string key;
    std::vector<Value> values;
    for (uint32_t row = 0; row < rows; ++row) {
      AddExpanded(row, 0, key, values);
    }
    return;
  }
  if (rows_.size() != rows) {
    rows_.resize(rows);
    std::iota(rows_.begin(), rows_.end(), 0u);
  }
  if (form_ == Form::kInt) {
    const auto values = keys_[0].ints();
    FindByOneKey(rows, [&](size_t row) { return GroupOfInt(values[row]); });
  } else if (form_ == Form::kText) {
    const auto values = keys_[0].texts();
    FindByOneKey(rows, [&](size_t row) { return GroupOfText(values[row]); });
  } else {
    groups_.assign(rows, 0);
  }
}

// Adds the row to the group of every combination of its keys' items. Each key is written with its length in
// front, so that the parts of a compound key cannot run into each other.
void Grouper::AddExpanded(uint32_t row, size_t depth, std::string& key, std::vector<Value>& values) {
  if (depth == keys_.size()) {
    const size_t before = group_count_;
    groups_.push_back(GroupOf(key));
    rows_.push_back(row);
    if (options_.keep_key_values && group_count_ > before) {
      key_values_.push_back(values);
    }
    return;
  }
  const Vector& vector = keys_[depth];
  const size_t start = key.size();
  const auto descend = [&](std::string_view part, Value value) {
    const auto length = static_cast<uint32_t>(part.size());
    key.append(reinterpret_cast<const char*>(&length), sizeof(length));
    key.append(part);
    values.push_back(std::move(value));
    AddExpanded(row, depth + 1, key, values);
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
  if (tops_.empty()) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      BestRow& best = best_[groups_[i]];
      const auto id = static_cast<uint64_t>(ids[rows_[i]]);
      if (id < best.id || !best.row.exists()) {
        best = {batch.row(rows_[i]), id};
      }
    }
    return Status::Ok();
  }
  RETURN_IF_ERROR(EvaluateKeys(options_.within_order, batch, order_));
  for (size_t i = 0; i < groups_.size(); ++i) {
    tops_[groups_[i]].Add(order_, rows_[i], batch.row(rows_[i]), static_cast<uint64_t>(ids[rows_[i]]));
  }
  return Status::Ok();
}

Status Grouper::UpdateAggregates(ScanBatch& batch) {
  const GroupedRows input{groups_, rows_, form_ == Form::kWhole};
  for (size_t i = 0; i < aggregates_.size(); ++i) {
    AggregateCall& call = aggregates_[i];
    call.state->Resize(group_count_);
    if (call.argument == nullptr) {
      call.state->Update(input, no_argument_);
      continue;
    }
    RETURN_IF_ERROR(arguments_.Read(i, *call.argument, batch));
    call.state->Update(input, arguments_[i]);
  }
  return Status::Ok();
}

Status Grouper::Add(ScanBatch& batch) {
  for (size_t k = 0; k < keys_.size(); ++k) {
    RETURN_IF_ERROR(keys_.Read(k, *options_.keys[k], batch));
  }
  FindGroups(batch.size());
  if (options_.keep_rows) {
    RETURN_IF_ERROR(KeepRows(batch));
  }
  return UpdateAggregates(batch);
}

void Grouper::TakeRows(uint32_t group, std::vector<RowRef>& rows) {
  if (tops_.empty()) {
    rows.push_back(best_[group].row);
    return;
  }
  for (const RankedRow& row : tops_[group].Take()) {
    rows.push_back(row.row);
  }
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
