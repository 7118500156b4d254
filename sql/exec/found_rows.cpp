#include "sql/exec/found_rows.h"

#include <algorithm>

namespace stoa::sql {
namespace {

// Reads one of the values that each row was found with.
class FoundValues : public SourceReader {
 public:
  FoundValues(const std::vector<RowRef>& found, const std::vector<float>& values, uint32_t part)
      : found_(found), values_(values), part_(part) {}

  Status Read(std::span<const RowId> rows, Vector& out) override {
    out.Reset(ValueType::kFloat, rows.size());
    auto at = found_.begin();
    for (size_t i = 0; i < rows.size(); ++i) {
      const RowRef wanted{part_, rows[i]};
      at = std::lower_bound(at, found_.end(), wanted);
      if (at == found_.end() || *at != wanted) {
        return InternalError("the distance or score of a row that was not found");
      }
      out.reals()[i] = static_cast<double>(values_[static_cast<size_t>(at - found_.begin())]);
    }
    return Status::Ok();
  }

  Status Select(uint32_t, const storage::ColumnPredicate&, storage::BlockBits&) override {
    return UnsupportedError("distances and scores do not test their values");
  }

 private:
  const std::vector<RowRef>& found_;
  const std::vector<float>& values_;
  uint32_t part_;
};

class FoundSource : public RowSource {
 public:
  FoundSource(std::shared_ptr<const RowSource> source, std::shared_ptr<const FoundRows> found)
      : source_(std::move(source)), found_(std::move(found)) {
    columns_ = source_->columns();
    for (const char* name : {"knn_dist()", "hybrid_score()"}) {
      columns_.push_back({name, ValueType::kFloat, storage::ColumnType::kFloat, true, false});
    }
  }

  size_t part_count() const override { return source_->part_count(); }
  uint32_t row_count(size_t part) const override { return source_->row_count(part); }
  const storage::DeleteMap& deleted(size_t part) const override { return source_->deleted(part); }
  uint64_t live_count() const override { return found_->rows.size(); }
  bool has_ids() const override { return source_->has_ids(); }
  Result<bool> FindDocument(DocId, std::vector<RowRef>&) const override { return false; }

  Result<std::unique_ptr<SourceReader>> OpenColumn(size_t part, size_t column) const override {
    if (column < source_->columns().size()) {
      return source_->OpenColumn(part, column);
    }
    const bool is_distance =
        column - source_->columns().size() == static_cast<size_t>(FoundColumn::kDistance);
    return std::unique_ptr<SourceReader>(std::make_unique<FoundValues>(
        found_->rows, is_distance ? found_->distances : found_->scores, static_cast<uint32_t>(part)));
  }

 private:
  std::shared_ptr<const RowSource> source_;
  std::shared_ptr<const FoundRows> found_;
};

}  // namespace

std::shared_ptr<const RowSource> MakeFoundSource(std::shared_ptr<const RowSource> source,
                                                 std::shared_ptr<const FoundRows> found) {
  return std::make_shared<FoundSource>(std::move(source), std::move(found));
}

}  // namespace stoa::sql
