#include "sql/exec/grouper.h"

#include <algorithm>
#include <numeric>

#include "sql/exec/value_key.h"

namespace stoa::sql {

using storage::JsonKind;
using storage::JsonView;

Grouper::Grouper(Options options, std::vector<AggregateCall>& aggregates)
    : options_(std::move(options)),
      aggregates_(aggregates),
      form_(FormOf(options_)),
      keys_(options_.keys.size()),
      arguments_(aggregates.size()),
      order_(options_.within_order.size()) {
  if (form_ == Form::kWhole) {
    NewGroup();
    for (AggregateCall& call : aggregates_) {
      call.state->Resize(1);
    }
  } else if (form_ == Form::kNumbered) {
    key_numbers_.assign(keys_.size(), KeyNumbers(options_.collation));
    pair_numbers_.resize(keys_.size() - 1);
  }
}

Grouper::Form Grouper::FormOf(const Options& options) const {
  if (options.keys.empty()) {
    return Form::kWhole;
  }
  const bool numbered = !options.keep_key_values &&
                        std::all_of(options.keys.begin(), options.keys.end(),
                                    [](const SharedExpr& key) { return KeyNumbers::Takes(key->type()); });
  return numbered ? Form::kNumbered : Form::kExpanded;
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

// The numbers of the keys, and then of their pairs, appear in the order in which groups are made.
void Grouper::FindNumbered() {
  key_numbers_[0].Number(keys_[0], groups_);
  for (size_t k = 1; k < keys_.size(); ++k) {
    key_numbers_[k].Number(keys_[k], numbers_);
    pair_numbers_[k - 1].Number(groups_, numbers_);
  }
  for (const uint32_t group : groups_) {
    if (group == group_count_) {
      NewGroup();
    }
  }
}

void Grouper::FindGroups(size_t rows) {
  if (form_ == Form::kExpanded) {
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
  if (form_ == Form::kNumbered) {
    FindNumbered();
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
