#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sql/exec/source_readers.h"
#include "sql/expr/expr.h"

namespace stoa::sql {

// What a slot of a SELECT's expressions stands for.
struct SlotInfo {
  enum class Kind : uint8_t {
    kColumn,     // index: column of the source
    kAggregate,  // index: aggregate of the plan
    kGroupKey,   // index: group key (GROUPBY(), values of sets that were grouped by)
  };
  Kind kind = Kind::kColumn;
  size_t index = 0;
  ValueType type = ValueType::kNull;
};

// Rows of one part, in ascending order. Used again for the next rows, so that its memory is.
class ScanBatch : public Batch {
 public:
  ScanBatch(SourceReaders& readers, const std::vector<SlotInfo>& slots);

  // Makes it these rows.
  void Reset(size_t part, std::span<const RowId> rows);
  // Keeps the rows at these positions, which ascend.
  void Keep(std::span<const uint32_t> positions);
  // Keeps the first `count` rows.
  void Truncate(size_t count);

  size_t size() const override { return rows_.size(); }
  size_t part() const { return part_; }
  std::span<const RowId> rows() const { return rows_; }
  RowRef row(size_t i) const { return {static_cast<uint32_t>(part_), rows_[i]}; }
  Result<const Vector*> Slot(size_t slot) override;
  // Document ids, as the bits of uint64.
  Result<std::span<const int64_t>> Ids();

 private:
  struct Values {
    Vector vector;
    bool is_read = false;
  };

  SourceReaders& readers_;
  const std::vector<SlotInfo>& slots_;
  size_t part_ = 0;
  std::vector<RowId> rows_;
  std::vector<Values> values_;  // by slot; the ids are behind them, unless a slot holds them
  size_t id_values_;
};

// Fills aggregate and group-key slots for the groups of a GatherBatch.
class GroupValues {
 public:
  virtual ~GroupValues() = default;
  virtual Status ReadGroups(const SlotInfo& slot, std::span<const uint32_t> groups, Vector& out) const = 0;
};

// Up to kBatchRows rows from anywhere, in any order, perhaps with the group each stands for. A row that does
// not exist reads as 0, 0.0 or an empty text.
class GatherBatch : public Batch {
 public:
  GatherBatch(SourceReaders& readers, const std::vector<SlotInfo>& slots, std::vector<RowRef> rows,
              const GroupValues* group_values = nullptr, std::vector<uint32_t> groups = {});

  size_t size() const override { return rows_.size(); }
  Result<const Vector*> Slot(size_t slot) override;

 private:
  Status Gather(size_t column, Vector& out);

  SourceReaders& readers_;
  const std::vector<SlotInfo>& slots_;
  std::vector<RowRef> rows_;
  const GroupValues* group_values_;
  std::vector<uint32_t> groups_;
  std::vector<uint32_t> order_;  // positions by part and row
  std::vector<std::unique_ptr<Vector>> values_;
  std::vector<std::unique_ptr<Vector>> pieces_;  // keep the bytes that gathered texts point to
};

}  // namespace stoa::sql
