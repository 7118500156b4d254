#include "sql/exec/knn_run.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include "sql/exec/source_readers.h"
#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

using storage::ColumnDefinition;
using storage::TableSnapshot;

constexpr uint64_t kSmallTable = 8192;  // rows

// One search.
class KnnRun {
 public:
  KnnRun(const KnnPlan& knn, const RowSource& source, const PartRows& filter, StatementContext& context)
      : knn_(knn), source_(source), filter_(filter), context_(context), request_(knn.request) {}

  Result<std::vector<KnnHit>> Run(knn::SearchStatistics& statistics) {
    if (knn_.is_open) {
      return SyntaxError("a placeholder of knn() has no value");
    }
    if (knn_.document) {
      ASSIGN_OR_RETURN(const bool has_vector, ReadDocument());
      if (!has_vector) {
        context_.warnings.push_back(
            fmt::format("document {} has no vector in '{}'", knn_.document->value, knn_.column));
        return std::move(hits_);
      }
    }
    request_.k = static_cast<uint32_t>(
        std::min<uint64_t>({knn_.rows, source_.live_count(), std::numeric_limits<uint32_t>::max()}));
    // Filtering a small table first is cheap, and does not lose rows.
    request_.prefilter = request_.prefilter || source_.live_count() < kSmallTable;
    if (request_.k > 0) {
      RETURN_IF_ERROR(SearchTables(statistics));
    }
    return std::move(hits_);
  }

 private:
  Status SearchTables(knn::SearchStatistics& statistics) {
    uint32_t first_part = 0;
    for (const auto& table : source_.tables()) {
      if (filter_) {
        request_.filter = [this, first_part](uint32_t part) { return filter_(first_part + part); };
      }
      RETURN_IF_ERROR(SearchTable(*table, first_part, statistics));
      first_part += static_cast<uint32_t>(table->parts.size());
    }
    if (source_.tables().size() > 1) {
      std::sort(hits_.begin(), hits_.end(), [](const KnnHit& a, const KnnHit& b) {
        return std::tie(a.distance, a.id, a.row) < std::tie(b.distance, b.id, b.row);
      });
      hits_.resize(std::min<size_t>(hits_.size(), request_.k));
    }
    return Status::Ok();
  }

  Status SearchTable(const TableSnapshot& table, uint32_t first_part, knn::SearchStatistics& statistics) {
    request_.column = table.definition->Find(knn_.column);
    request_.excluded.reset();
    if (document_ && document_->part >= first_part && document_->part - first_part < table.parts.size()) {
      request_.excluded = storage::RowLocation{document_->part - first_part, document_->row};
    }
    ASSIGN_OR_RETURN(const std::vector<knn::SearchHit> hits,
                     knn::SearchTable(table, request_, &context_.cancel, statistics));
    for (const knn::SearchHit& hit : hits) {
      hits_.push_back({{first_part + hit.location.part, hit.location.row}, hit.id, hit.distance});
    }
    return Status::Ok();
  }

  // Makes the vector of the document the query; false: there is no such document, or it has no vector.
  Result<bool> ReadDocument() {
    std::vector<RowRef> found;
    ASSIGN_OR_RETURN(const bool searched, source_.FindDocument(*knn_.document, found));
    if (!searched || found.empty()) {
      return false;
    }
    const int column = source_.FindColumn(knn_.column);
    SourceReaders readers(source_);
    Vector values;
    RETURN_IF_ERROR(readers.Read(found[0].part, static_cast<size_t>(column), {&found[0].row, 1}, values));
    const std::string_view bytes = values.texts()[0];
    if (bytes.empty()) {
      return false;
    }
    const size_t dims = source_.tables()[0]->definition->Find(knn_.column)->knn->dims;
    if (bytes.size() != dims * sizeof(float)) {
      return CorruptError("the vector of document {} has {} bytes, not {}", knn_.document->value,
                          bytes.size(), dims * sizeof(float));
    }
    request_.query.resize(dims);
    std::memcpy(request_.query.data(), bytes.data(), bytes.size());
    document_ = found[0];
    return true;
  }

  const KnnPlan& knn_;
  const RowSource& source_;
  const PartRows& filter_;
  StatementContext& context_;
  knn::SearchRequest request_;
  std::optional<RowRef> document_;
  std::vector<KnnHit> hits_;
};

}  // namespace

Result<std::vector<KnnHit>> RunKnn(const KnnPlan& knn, const RowSource& source, const PartRows& filter,
                                   StatementContext& context, knn::SearchStatistics& statistics) {
  return KnnRun(knn, source, filter, context).Run(statistics);
}

}  // namespace stoa::sql
