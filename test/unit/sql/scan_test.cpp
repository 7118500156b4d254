#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "sql/exec/scan.h"
#include "sql/exec/scan_filter.h"
#include "sql/expr_fixture.h"

namespace stoa::sql {
namespace {

using storage::BlockBits;
using storage::ColumnPredicate;
using storage::kBlockRows;

enum class Selects : uint8_t { kYes, kNotInts, kNo, kCorrupt };

bool Passes(const ColumnPredicate& predicate, double value) {
  bool inside = false;
  if (const auto* range = std::get_if<storage::IntRange>(&predicate.test)) {
    inside = value >= static_cast<double>(range->low) && value <= static_cast<double>(range->high);
  } else if (const auto* floats = std::get_if<storage::FloatRange>(&predicate.test)) {
    inside = value >= floats->low && value <= floats->high;
  } else {
    for (const int64_t wanted : std::get<storage::IntSet>(predicate.test).values) {
      inside = inside || value == static_cast<double>(wanted);
    }
  }
  return inside != predicate.negated;
}

// Two parts of 5,000 and 10 rows with n = row × 7 % 1000 and f = n / 4; every third row of the first part is
// deleted.
class Rows : public RowSource {
 public:
  explicit Rows(Selects how) : selects_(how) {
    columns_.resize(2);
    columns_[0] = {"n", ValueType::kInt, storage::ColumnType::kInt, true, true};
    columns_[1] = {"f", ValueType::kFloat, storage::ColumnType::kFloat, true, true};
    storage::DeleteMapEdit edit(std::make_shared<storage::DeleteMap>());
    for (uint32_t row = 0; row < 5000; row += 3) {
      edit.Add(RowId(row));
    }
    deleted_ = edit.Finish();
  }

  size_t part_count() const override { return 2; }
  uint32_t row_count(size_t part) const override { return part == 0 ? 5000 : 10; }
  const storage::DeleteMap& deleted(size_t part) const override { return part == 0 ? *deleted_ : none_; }
  uint64_t live_count() const override { return 5010 - deleted_->count(); }
  bool has_ids() const override { return false; }
  Result<bool> FindDocument(DocId, std::vector<RowRef>&) const override { return false; }
  Result<std::unique_ptr<SourceReader>> OpenColumn(size_t, size_t column) const override {
    ++opened;
    return std::unique_ptr<SourceReader>(std::make_unique<Reader>(*this, column));
  }

  static double ValueOf(size_t column, uint32_t row) {
    return column == 0 ? row * 7 % 1000 : row * 7 % 1000 / 4.0;
  }

  mutable size_t opened = 0;
  mutable size_t selected = 0;

 private:
  class Reader : public SourceReader {
   public:
    Reader(const Rows& rows, size_t column) : rows_(rows), column_(column) {}
    Status Read(std::span<const RowId> rows, Vector& out) override {
      out.Reset(rows_.columns_[column_].type, rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        const double value = ValueOf(column_, rows[i].value);
        if (column_ == 0) {
          out.ints()[i] = static_cast<int64_t>(value);
        } else {
          out.reals()[i] = value;
        }
      }
      return Status::Ok();
    }
    Status Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) override {
      if (rows_.selects_ == Selects::kNo || (rows_.selects_ == Selects::kNotInts && column_ == 0)) {
        return UnsupportedError("not here");
      }
      if (rows_.selects_ == Selects::kCorrupt && block == 1) {
        return CorruptError("file: broken");
      }
      ++rows_.selected;
      for (uint32_t i = 0; i < kBlockRows; ++i) {
        if (!Passes(predicate, ValueOf(column_, block * kBlockRows + i))) {
          bits[i / 64] &= ~(uint64_t{1} << (i % 64));
        }
      }
      return Status::Ok();
    }

   private:
    const Rows& rows_;
    size_t column_;
  };

  Selects selects_;
  std::shared_ptr<const storage::DeleteMap> deleted_;
  storage::DeleteMap none_;
};

const std::vector<SlotInfo> kSlots = {{SlotInfo::Kind::kColumn, 0, ValueType::kInt},
                                      {SlotInfo::Kind::kColumn, 1, ValueType::kFloat}};

SharedExpr Filter(const std::string& text) {
  ExprTable t;
  t.Ints("n", storage::ColumnType::kInt, ValueType::kInt, {0});
  t.Floats("f", {0});
  return t.BindAsFilter(text).value();
}

struct Found {
  std::vector<std::pair<uint32_t, uint32_t>> rows;  // part and row
  size_t batches = 0;
  uint64_t counted = 0;
};

Result<Found> Scan(const Rows& source, const std::string& text, ScanStep first = ScanStep::kContinue) {
  CancelToken cancel;
  const SharedExpr filter = text.empty() ? nullptr : Filter(text);
  Found found;
  ASSIGN_OR_RETURN(const ScanEnd end, RunScan(
                                          {source, kSlots, filter.get(), nullptr, cancel},
                                          [&](ScanBatch& batch) -> Result<ScanStep> {
                                            ++found.batches;
                                            ASSIGN_OR_RETURN(const Vector* n, batch.Slot(0));
                                            for (size_t i = 0; i < batch.size(); ++i) {
                                              const uint32_t row = batch.rows()[i].value;
                                              CHECK(n->ints()[i] == row * 7 % 1000);
                                              found.rows.emplace_back(batch.part(), row);
                                            }
                                            return ScanStep::kContinue;
                                          },
                                          first));
  found.counted = end.only_counted;
  return found;
}

}  // namespace

TEST_CASE("a scan finds the same rows whether storage tests the conditions or not", "[sql]") {
  for (const char* text : {"", "n < 100", "n BETWEEN 990 AND 2000", "n IN (7, 21, 500, 9999)",
                           "n <> 7 AND f > 200", "n NOT IN (1, 2, 3) AND f <= 12.25 AND n*2 > 10", "n = 3000",
                           "n*2 = 14", "f = 1.75", "n < 300 AND (n > 100 OR f < 10) AND NOT n = 200"}) {
    INFO(text);
    const Found wanted = Scan(Rows(Selects::kNo), text).value();
    for (const Selects selects : {Selects::kYes, Selects::kNotInts}) {
      const Rows rows(selects);
      CHECK(Scan(rows, text).value().rows == wanted.rows);
      const Found counted = Scan(rows, text, ScanStep::kCount).value();
      CHECK(counted.counted == wanted.rows.size());
      CHECK(counted.batches == 0);
    }
  }
}

TEST_CASE("a scan opens a column once a part and fills its batches over several blocks", "[sql]") {
  const Rows rows(Selects::kYes);
  const Found found = Scan(rows, "n < 100").value();
  CHECK(found.rows.size() == 344);
  CHECK(found.batches == 2);  // one a part
  CHECK(rows.opened == 2);
  CHECK(rows.selected == 6);
}

TEST_CASE("a scan fails with the error of a column", "[sql]") {
  const Result<Found> found = Scan(Rows(Selects::kCorrupt), "n < 100");
  REQUIRE_FALSE(found.ok());
  CHECK(found.status().code() == StatusCode::kCorrupt);
  CHECK(found.status().text() == "file: broken");
}

TEST_CASE("float ranges for storage hold the floats that the comparison holds", "[sql]") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {
      0.0F,          -0.0F,          0.1F,      1e-45F,     -1e-45F,
      3.4028235e38F, -3.4028235e38F, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  std::mt19937 dice(1);
  for (int i = 0; i < 200; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(dice())));
  }
  size_t tested = 0;
  for (const char* text :
       {"f = 0.1", "f <> 0.1", "f < 0.1", "f <= 0.1", "f > 0.1", "f >= 0.1", "f > 0", "f >= 0", "f < 0",
        "f = 0", "f > 1e39", "f >= 1e39", "f < 1e39", "f < -1e39", "f <= -1e39", "f BETWEEN -1 AND 0.1",
        "f NOT BETWEEN -1 AND 0.1", "f > 16777217", "f < 16777217"}) {
    ExprTable t;
    t.Floats("f", values);
    const SharedExpr filter = t.BindAsFilter(text).value();
    const auto condition = filter->conjuncts()[0]->slot_condition();
    if (!condition) {
      continue;  // nothing matches
    }
    ++tested;
    std::string rows;
    for (size_t i = 0; i < values.size(); ++i) {
      if (Passes(condition->predicate, static_cast<double>(values[i]))) {
        rows += (rows.empty() ? "" : " ") + std::to_string(i + 1);
      }
    }
    INFO(text);
    CHECK(rows == t.Rows(text));
  }
  CHECK(tested > 12);
}

}  // namespace stoa::sql
