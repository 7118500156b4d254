#include <algorithm>
#include <cstring>
#include <deque>

#include "sql/expr/functions/function.h"

// any(), all() and indexof() over the items of a JSON array or set, and length().
namespace stoa::sql {
namespace {

using storage::JsonKind;
using storage::JsonView;

// Loop variables have slots far above those of columns; a loop inside a loop takes the next one.
constexpr size_t kFirstLoopSlot = size_t{1} << 30;

ValueType ItemType(ValueType array) {
  return array == ValueType::kMulti     ? ValueType::kInt
         : array == ValueType::kMulti64 ? ValueType::kBigint
                                        : ValueType::kJson;
}

storage::ColumnType ItemColumnType(ValueType array) {
  return array == ValueType::kMulti     ? storage::ColumnType::kInt
         : array == ValueType::kMulti64 ? storage::ColumnType::kBigint
                                        : storage::ColumnType::kJson;
}

// Names inside the condition of a loop: the variable hides what has its name outside.
class LoopScope final : public NameScope {
 public:
  LoopScope(NameScope& outer, std::string_view variable, ValueType array)
      : outer_(outer), variable_(variable), array_(array) {
    std::optional<Column> above = outer.FindColumn(kDepthName);
    slot_ = above ? above->slot + 1 : kFirstLoopSlot;
  }

  size_t slot() const { return slot_; }

  std::optional<Column> FindColumn(std::string_view name) override {
    if (name == variable_ || name == kDepthName) {
      Column column;
      column.slot = slot_;
      column.type = ItemType(array_);
      column.column_type = ItemColumnType(array_);
      return column;
    }
    return outer_.FindColumn(name);
  }
  SharedExpr FindAlias(std::string_view alias) override {
    return alias == variable_ ? nullptr : outer_.FindAlias(alias);
  }
  bool IsTableName(std::string_view name) const override {
    return name != variable_ && outer_.IsTableName(name);
  }
  std::optional<Value> SystemVariable(std::string_view scope, std::string_view name) override {
    return outer_.SystemVariable(scope, name);
  }
  std::optional<Value> UserVariable(std::string_view name) override { return outer_.UserVariable(name); }
  Result<SharedExpr> FindSpecial(const ParsedExpr& call) override { return outer_.FindSpecial(call); }
  void AddWarning(std::string text) override { outer_.AddWarning(std::move(text)); }
  const BindContext& context() const override { return outer_.context(); }

 private:
  // No column of a table can have this name; a loop scope answers with its own slot.
  static constexpr std::string_view kDepthName = "\x01loop";

  NameScope& outer_;
  std::string_view variable_;
  ValueType array_;
  size_t slot_;
};

// The items of the arrays of some rows as a batch of their own, at most kBatchRows; other slots are those of
// the row that each item came from.
class LoopBatch final : public Batch {
 public:
  LoopBatch(Batch& outer, size_t loop_slot, ValueType item_type)
      : outer_(outer), loop_slot_(loop_slot), item_type_(item_type) {}

  void AddItem(size_t row, int64_t index, int64_t value) {
    Add(row, index);
    ints_.push_back(value);
  }
  void AddItem(size_t row, int64_t index, std::string_view value) {
    Add(row, index);
    texts_.push_back(value);
  }
  bool full() const { return rows_.size() == kBatchRows; }
  size_t row(size_t item) const { return rows_[item]; }
  int64_t index(size_t item) const { return indexes_[item]; }
  void Clear() {
    rows_.clear();
    indexes_.clear();
    ints_.clear();
    texts_.clear();
    read_.clear();
  }

  size_t size() const override { return rows_.size(); }

  Result<const Vector*> Slot(size_t slot) override {
    for (const Read& read : read_) {
      if (read.slot == slot) {
        return &read.vector;
      }
    }
    Read read{slot, Vector()};
    if (slot == loop_slot_) {
      FillItems(read.vector);
    } else {
      ASSIGN_OR_RETURN(const Vector* values, outer_.Slot(slot));
      Gather(*values, read.vector);
    }
    read_.push_back(std::move(read));
    return &read_.back().vector;
  }

 private:
  struct Read {
    size_t slot;
    Vector vector;
  };

  void Add(size_t row, int64_t index) {
    rows_.push_back(row);
    indexes_.push_back(index);
  }
  void FillItems(Vector& vector) const {
    vector.Reset(item_type_, rows_.size());
    if (item_type_ == ValueType::kJson) {
      std::copy(texts_.begin(), texts_.end(), vector.texts().begin());
    } else {
      std::copy(ints_.begin(), ints_.end(), vector.ints().begin());
    }
  }
  void Gather(const Vector& values, Vector& vector) const {
    vector.Reset(values.type(), rows_.size());
    VectorLane lane = LaneOf(values.type());
    for (size_t item = 0; item < rows_.size(); ++item) {
      size_t row = rows_[item];
      if (lane == VectorLane::kInt) {
        vector.ints()[item] = values.ints()[row];
      } else if (lane == VectorLane::kReal) {
        vector.reals()[item] = values.reals()[row];
      } else {
        vector.texts()[item] = values.texts()[row];
      }
      if (values.IsNull(row)) {
        vector.SetNull(item);
      }
    }
  }

  Batch& outer_;
  size_t loop_slot_;
  ValueType item_type_;
  std::vector<size_t> rows_;
  std::vector<int64_t> indexes_;
  std::vector<int64_t> ints_;
  std::vector<std::string_view> texts_;
  std::deque<Read> read_;
};

enum class LoopKind : uint8_t { kAny, kAll, kIndexOf };

class LoopExpr final : public Expr {
 public:
  LoopExpr(LoopKind kind, SharedExpr array, SharedExpr condition, size_t slot)
      : Expr(kind == LoopKind::kIndexOf ? ValueType::kBigint : ValueType::kInt),
        kind_(kind),
        array_(std::move(array)),
        condition_(std::move(condition)),
        slot_(slot) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    KernelInputs in;
    RETURN_IF_ERROR(in.Evaluate({&array_, 1}, batch));
    out.Reset(type(), batch.size());
    std::fill(out.ints().begin(), out.ints().end(), kind_ == LoopKind::kIndexOf ? -1 : 0);
    LoopBatch items(batch, slot_, ItemType(array_->type()));
    for (size_t row = 0; row < batch.size(); ++row) {
      if (!in[0].IsNull(row)) {
        RETURN_IF_ERROR(AddItems(in[0].texts()[row], row, items, out));
      }
    }
    return Flush(items, out);
  }

 private:
  Status AddItems(std::string_view bytes, size_t row, LoopBatch& items, Vector& out) const {
    switch (array_->type()) {
      case ValueType::kMulti:
        return AddSet<uint32_t>(bytes, row, items, out);
      case ValueType::kMulti64:
        return AddSet<int64_t>(bytes, row, items, out);
      default:
        return AddArray(JsonView(bytes), row, items, out);
    }
  }
  template <typename T>
  Status AddSet(std::string_view set, size_t row, LoopBatch& items, Vector& out) const {
    StartRow(!set.empty(), row, out);
    for (size_t i = 0; i < set.size() / sizeof(T); ++i) {
      T item{};
      std::memcpy(&item, set.data() + i * sizeof(T), sizeof(T));
      items.AddItem(row, static_cast<int64_t>(i), static_cast<int64_t>(item));
      RETURN_IF_ERROR(FlushFull(items, out));
    }
    return Status::Ok();
  }
  Status AddArray(JsonView array, size_t row, LoopBatch& items, Vector& out) const {
    if (array.kind() != JsonKind::kArray) {
      return Status::Ok();
    }
    StartRow(array.size() > 0, row, out);
    for (size_t i = 0; i < array.size(); ++i) {
      items.AddItem(row, static_cast<int64_t>(i), array.At(i).bytes());
      RETURN_IF_ERROR(FlushFull(items, out));
    }
    return Status::Ok();
  }
  // all() holds until an item fails; over no items it does not hold.
  void StartRow(bool has_items, size_t row, Vector& out) const {
    if (kind_ == LoopKind::kAll && has_items) {
      out.ints()[row] = 1;
    }
  }

  Status FlushFull(LoopBatch& items, Vector& out) const {
    return items.full() ? Flush(items, out) : Status::Ok();
  }

  // Asks the condition for the collected items and takes its answers into their rows.
  Status Flush(LoopBatch& items, Vector& out) const {
    if (items.size() == 0) {
      return Status::Ok();
    }
    Vector holds;
    RETURN_IF_ERROR(condition_->Evaluate(items, holds));
    bool real = LaneOf(holds.type()) == VectorLane::kReal;
    for (size_t item = 0; item < items.size(); ++item) {
      bool is_true = !holds.IsNull(item) && (real ? holds.reals()[item] != 0 : holds.ints()[item] != 0);
      int64_t& result = out.ints()[items.row(item)];
      if (kind_ == LoopKind::kAll) {
        result = is_true ? result : 0;
      } else if (is_true && kind_ == LoopKind::kAny) {
        result = 1;
      } else if (is_true && result < 0) {
        result = items.index(item);
      }
    }
    items.Clear();
    return Status::Ok();
  }

  LoopKind kind_;
  SharedExpr array_;
  SharedExpr condition_;
  size_t slot_;
};

// length(): items of a set, array or object, numbers of a vector, bytes of a text.
size_t JsonLength(JsonView value) {
  if (value.is_null()) {
    return 0;
  }
  switch (value.kind()) {
    case JsonKind::kArray:
    case JsonKind::kObject:
      return value.size();
    case JsonKind::kString:
      return value.AsString().size();
    default:
      return storage::JsonText(value).size();
  }
}

size_t ArrayLength(std::string_view vectors) {
  uint32_t dims = 0;
  if (vectors.size() < sizeof(dims)) {
    return 0;
  }
  std::memcpy(&dims, vectors.data(), sizeof(dims));
  return dims == 0 ? 0 : (vectors.size() - sizeof(dims)) / sizeof(float) / dims;
}

size_t LengthOf(ValueType type, std::string_view bytes) {
  switch (type) {
    case ValueType::kMulti:
      return bytes.size() / sizeof(uint32_t);
    case ValueType::kMulti64:
      return bytes.size() / sizeof(int64_t);
    case ValueType::kFloatVector:
      return bytes.size() / sizeof(float);
    case ValueType::kFloatVectorArray:
      return ArrayLength(bytes);
    case ValueType::kJson:
      return JsonLength(JsonView(bytes));
    default:
      return bytes.size();
  }
}

Result<SharedExpr> BindLength(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(SharedExpr arg, BindExpr(*call.args[0], scope));
  if (LaneOf(arg->type()) != VectorLane::kBytes) {
    arg = AsText(std::move(arg));
  }
  return MakeKernel(
      ValueType::kInt, {std::move(arg)},
      [](const KernelInputs& in, Vector& out) {
        for (size_t row = 0; row < out.size(); ++row) {
          bool null = in[0].IsNull(row);
          out.ints()[row] = null ? 0 : static_cast<int64_t>(LengthOf(in[0].type(), in[0].texts()[row]));
        }
      },
      NullRule::kKernelDecides);
}

constexpr FunctionEntry kFunctions[] = {
    {"length", 1, 1, BindLength},
    {"octet_length", 1, 1, BindLength},
};

}  // namespace

Result<SharedExpr> BindLoop(const ParsedExpr& call, NameScope& scope) {
  LoopKind kind = call.name == "any"   ? LoopKind::kAny
                  : call.name == "all" ? LoopKind::kAll
                                       : LoopKind::kIndexOf;
  ASSIGN_OR_RETURN(SharedExpr array, BindExpr(*call.args[1], scope));
  if (array->type() != ValueType::kJson && !IsSet(array->type())) {
    return FunctionError(scope,
                         fmt::format("{}() loops over JSON arrays and multi-value columns only", call.name));
  }
  LoopScope inner(scope, call.text, array->type());
  ASSIGN_OR_RETURN(SharedExpr condition, BindExpr(*call.args[0], inner));
  if (LaneOf(condition->type()) == VectorLane::kBytes) {
    return FunctionError(scope, fmt::format("the condition of {}() must be true or false", call.name));
  }
  return SharedExpr(
      std::make_shared<const LoopExpr>(kind, std::move(array), std::move(condition), inner.slot()));
}

std::span<const FunctionEntry> LoopFunctions() { return kFunctions; }

}  // namespace stoa::sql
