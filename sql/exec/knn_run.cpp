#include "sql/exec/knn_run.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include "sql/exec/part_filter.h"
#include "sql/sql_error.h"

namespace stoa::sql {
namespace {

using storage::ColumnDefinition;
using storage::TableSnapshot;

constexpr uint64_t kSmallTable = 8192;  // rows

struct Hit {
  RowRef row;
  DocId id;
  float distance;
};

// One search.
class KnnRun {
 public:
  KnnRun(const SelectPlan& plan, StatementContext& context)
      : plan_(plan), knn_(*plan.knn), context_(context), request_(knn_.request) {}

  Result<KnnOutcome> Run() {
    if (knn_.is_open) {
      return SyntaxError("a placeholder of knn() has no value");
    }
    if (knn_.document) {
      ASSIGN_OR_RETURN(const bool has_vector, ReadDocument());
      if (!has_vector) {
        context_.warnings.push_back(
            fmt::format("document {} has no vector in '{}'", knn_.document->value, knn_.column));
        return Finish();
      }
    }
    request_.k = static_cast<uint32_t>(
        std::min<uint64_t>({knn_.rows, plan_.source->live_count(), std::numeric_limits<uint32_t>::max()}));
    // Filtering a small table first is cheap, and does not lose rows.
    request_.prefilter = request_.prefilter || plan_.source->live_count() < kSmallTable;
    if (request_.k > 0) {
      RETURN_IF_ERROR(SearchTables());
    }
    return Finish();
  }

 private:
  Status SearchTables() {
    std::optional<PartFilter> filter;
    if (knn_.filter != nullptr) {
      ASSIGN_OR_RETURN(PartFilter made,
                       PartFilter::Make(*plan_.source, plan_.slots, knn_.filter.get(),
                                        knn_.documents ? &*knn_.documents : nullptr, context_.cancel));
      filter.emplace(std::move(made));
    }
    uint32_t first_part = 0;
    for (const auto& table : plan_.source->tables()) {
      if (filter) {
        request_.filter = [&filter, first_part](uint32_t part) { return filter->RowsOf(first_part + part); };
      }
      RETURN_IF_ERROR(SearchTable(*table, first_part));
      first_part += static_cast<uint32_t>(table->parts.size());
    }
    outcome_.out_of_time = filter && filter->out_of_time();
    if (plan_.source->tables().size() > 1 && hits_.size() > request_.k) {
      std::sort(hits_.begin(), hits_.end(), [](const Hit& a, const Hit& b) {
        return std::tie(a.distance, a.id) < std::tie(b.distance, b.id);
      });
      hits_.resize(request_.k);
    }
    return Status::Ok();
  }

  Status SearchTable(const TableSnapshot& table, uint32_t first_part) {
    request_.column = table.definition->Find(knn_.column);
    request_.excluded.reset();
    if (document_ && document_->part >= first_part && document_->part - first_part < table.parts.size()) {
      request_.excluded = storage::RowLocation{document_->part - first_part, document_->row};
    }
    ASSIGN_OR_RETURN(const std::vector<knn::SearchHit> hits,
                     knn::SearchTable(table, request_, &context_.cancel, outcome_.statistics));
    for (const knn::SearchHit& hit : hits) {
      hits_.push_back({{first_part + hit.location.part, hit.location.row}, hit.id, hit.distance});
    }
    return Status::Ok();
  }

  // Makes the vector of the document the query; false: there is no such document, or it has no vector.
  Result<bool> ReadDocument() {
    std::vector<RowRef> found;
    ASSIGN_OR_RETURN(const bool searched, plan_.source->FindDocument(*knn_.document, found));
    if (!searched || found.empty()) {
      return false;
    }
    const int column = plan_.source->FindColumn(knn_.column);
    SourceReaders readers(*plan_.source);
    Vector values;
    RETURN_IF_ERROR(readers.Read(found[0].part, static_cast<size_t>(column), {&found[0].row, 1}, values));
    const std::string_view bytes = values.texts()[0];
    if (bytes.empty()) {
      return false;
    }
    const size_t dims = plan_.source->tables()[0]->definition->Find(knn_.column)->knn->dims;
    if (bytes.size() != dims * sizeof(float)) {
      return CorruptError("the vector of document {} has {} bytes, not {}", knn_.document->value,
                          bytes.size(), dims * sizeof(float));
    }
    request_.query.resize(dims);
    std::memcpy(request_.query.data(), bytes.data(), bytes.size());
    document_ = found[0];
    return true;
  }

  KnnOutcome Finish() {
    std::sort(hits_.begin(), hits_.end(), [](const Hit& a, const Hit& b) { return a.row < b.row; });
    auto found = std::make_shared<FoundRows>();
    found->rows.reserve(hits_.size());
    found->distances.reserve(hits_.size());
    for (const Hit& hit : hits_) {
      found->rows.push_back(hit.row);
      found->distances.push_back(hit.distance);
    }
    outcome_.found = std::move(found);
    return std::move(outcome_);
  }

  const SelectPlan& plan_;
  const KnnPlan& knn_;
  StatementContext& context_;
  knn::SearchRequest request_;
  std::optional<RowRef> document_;
  std::vector<Hit> hits_;
  KnnOutcome outcome_;
};

}  // namespace

Result<KnnOutcome> RunKnn(const SelectPlan& plan, StatementContext& context) {
  return KnnRun(plan, context).Run();
}

}  // namespace stoa::sql
