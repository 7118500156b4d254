#include "sql/exec/found_rows.h"

#include <algorithm>

namespace stoa::sql {
namespace {

class DistanceColumn : public SourceReader {
 public:
  DistanceColumn(const FoundRows& found, uint32_t part) : found_(found), part_(part) {}

  Status Read(std::span<const RowId> rows, Vector& out) override {
    out.Reset(ValueType::kFloat, rows.size());
    auto at = found_.rows.begin();
    for (size_t i = 0; i < rows.size(); ++i) {
      const RowRef wanted{part_, rows[i]};
      at = std::lower_bound(at, found_.rows.end(), wanted);
      if (at == found_.rows.end() || *at != wanted) {
        return InternalError("the distance of a row that was not found");
      }
      out.reals()[i] = static_cast<double>(found_.distances[static_cast<size_t>(at - found_.rows.begin())]);
    }
    return Status::Ok();
  }

  Status Select(uint32_t, const storage::ColumnPredicate&, storage::BlockBits&) override {
    return UnsupportedError("distances do not test their values");
  }

 private:
  const FoundRows& found_;
  uint32_t part_;
};

class FoundSource : public RowSource {
 public:
  FoundSource(std::shared_ptr<const RowSource> source, std::shared_ptr<const FoundRows> found)
      : source_(std::move(source)), found_(std::move(found)) {
    columns_ = source_->columns();
    columns_.push_back({"knn_dist()", ValueType::kFloat, storage::ColumnType::kFloat, true, false});
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
    return std::unique_ptr<SourceReader>(
        std::make_unique<DistanceColumn>(*found_, static_cast<uint32_t>(part)));
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
