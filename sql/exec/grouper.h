#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <string>
#include <vector>

#include "sql/exec/aggregate.h"
#include "sql/exec/key_numbers.h"
#include "sql/exec/scan.h"
#include "sql/exec/top_rows.h"
#include "sql/expr/collation.h"
#include "sql/expr/operand.h"

namespace stoa::sql {

// GROUP BY: finds the group of every row, keeps the best rows of each group and its aggregates. Exact,
// whatever the number of groups. Without keys all rows are one group, which exists even over no rows. One
// thread at a time.
class Grouper : public GroupValues {
 public:
  struct Options {
    std::vector<SharedExpr> keys;
    std::vector<SortKey> within_order;  // best rows of a group; ties and none: by document id
    size_t rows_per_group = 1;
    bool keep_key_values = false;  // for GROUPBY() and facets over sets
    bool keep_rows = true;         // false: nobody asks for rows; without keys only
    Collation collation = Collation::kLibcCi;
  };

  Grouper(Options options, std::vector<AggregateCall>& aggregates);

  Status Add(ScanBatch& batch);

  size_t group_count() const { return group_count_; }
  // Appends the kept rows of a group, best first; they are taken away.
  void TakeRows(uint32_t group, std::vector<RowRef>& rows);
  // Document id of the best row of the group.
  uint64_t FirstId(uint32_t group) const;

  Status ReadGroups(const SlotInfo& slot, std::span<const uint32_t> groups, Vector& out) const override;

 private:
  struct BestRow {
    RowRef row;
    uint64_t id = 0;
  };
  struct KeyHash {
    using is_transparent = void;
    using is_avalanching = void;
    size_t operator()(std::string_view key) const { return HashString(Collation::kBinary, key); }
  };
  // How the groups of a batch are found. kNumbered: a group is the number of its key.
  enum class Form : uint8_t { kWhole, kNumbered, kExpanded };

  Form FormOf(const Options& options) const;
  void FindGroups(size_t rows);
  void FindNumbered();
  void AddExpanded(uint32_t row, size_t depth, std::string& key, std::vector<Value>& values);
  uint32_t GroupOf(std::string_view key);
  uint32_t NewGroup();
  Status KeepRows(ScanBatch& batch);
  Status UpdateAggregates(ScanBatch& batch);

  Options options_;
  std::vector<AggregateCall>& aggregates_;
  Form form_;
  size_t group_count_ = 0;
  std::vector<KeyNumbers> key_numbers_;    // kNumbered: of each key
  std::vector<PairNumbers> pair_numbers_;  // of the first two keys, of those and the third, …
  boost::unordered_flat_map<std::string, uint32_t, KeyHash, std::equal_to<>> by_key_;
  std::vector<std::vector<Value>> key_values_;  // per group, only when kept
  std::vector<BestRow> best_;                   // rows_per_group 1 and no within_order
  std::vector<TopRows> tops_;                   // else
  // Of the current batch.
  Operands keys_;
  Operands arguments_;
  Operands order_;
  Vector no_argument_;
  std::vector<uint32_t> groups_;
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> numbers_;
};

}  // namespace stoa::sql
