#include "sql/exec/select_run.h"

#include <algorithm>

#include "sql/exec/scan.h"
#include "storage/json/json_value.h"

namespace stoa::sql {
namespace {

// Evaluates the output columns over batches and sends the rows.
class RowSender {
 public:
  RowSender(const SelectPlan& plan, ResultSink& sink)
      : plan_(plan), sink_(sink), values_(plan.output.size()), cells_(plan.output.size()) {}

  Status SendColumns() {
    std::vector<ResultColumn> columns;
    columns.reserve(plan_.output.size());
    for (const OutputColumn& output : plan_.output) {
      columns.push_back(output.column);
    }
    return sink_.Columns(columns);
  }

  // Rows [begin, end) of the batch.
  Status Send(Batch& batch, size_t begin, size_t end) {
    for (size_t c = 0; c < values_.size(); ++c) {
      RETURN_IF_ERROR(values_.Read(c, *plan_.output[c].expr, batch));
    }
    for (size_t row = begin; row < end; ++row) {
      json_texts_.clear();
      json_texts_.reserve(values_.size());
      for (size_t c = 0; c < values_.size(); ++c) {
        cells_[c] = CellOf(values_[c], row);
      }
      RETURN_IF_ERROR(sink_.Row(cells_));
      ++sent_;
    }
    return Status::Ok();
  }

  uint64_t sent() const { return sent_; }

 private:
  Cell CellOf(const Vector& values, size_t row) {
    Cell cell;
    if (values.IsNull(row)) {
      return cell;
    }
    cell.type = values.type();
    switch (LaneOf(values.type())) {
      case VectorLane::kInt:
        cell.integer = values.ints()[row];
        break;
      case VectorLane::kReal:
        cell.real = values.reals()[row];
        break;
      case VectorLane::kBytes:
        cell.bytes = values.texts()[row];
        break;
    }
    if (cell.type == ValueType::kJson && !sink_.takes_stored_json()) {
      SetJsonText(cell);
    }
    return cell;
  }

  // A JSON cell is shown as text: a string without its quotes, a null as NULL.
  void SetJsonText(Cell& cell) {
    const storage::JsonView json(cell.bytes);
    if (json.is_null()) {
      cell = Cell();
      return;
    }
    cell.type = ValueType::kString;
    if (json.kind() == storage::JsonKind::kString) {
      cell.bytes = json.AsString();
      return;
    }
    json_texts_.push_back(storage::JsonText(json));
    cell.bytes = json_texts_.back();
  }

  const SelectPlan& plan_;
  ResultSink& sink_;
  Operands values_;
  std::vector<Cell> cells_;
  std::vector<std::string> json_texts_;
  uint64_t sent_ = 0;
};

class SelectRun {
 public:
  SelectRun(SelectPlan& plan, StatementContext& context)
      : plan_(plan),
        context_(context),
        sender_(plan, context.sink),
        readers_(*plan.source),
        input_{*plan.source,      plan.slots,
               plan.filter.get(), plan.documents ? &*plan.documents : nullptr,
               context.cancel,    plan.found ? &plan.found->rows : nullptr} {}

  Result<SelectOutcome> Run() {
    RETURN_IF_ERROR(sender_.SendColumns());
    if (plan_.grouped) {
      RETURN_IF_ERROR(RunGrouped());
    } else if (plan_.order.empty()) {
      RETURN_IF_ERROR(RunUnordered());
    } else {
      RETURN_IF_ERROR(RunOrdered());
    }
    outcome_.rows = sender_.sent();
    outcome_.total = std::min(outcome_.total_found, plan_.window.end);
    return outcome_;
  }

 private:
  // The number of rows is known without reading them.
  bool CountIsKnown() const {
    return plan_.filter == nullptr && !plan_.documents && plan_.found == nullptr && plan_.options.cutoff == 0;
  }

  // Counts the rows of a batch; returns how many of them may be used before the cutoff.
  size_t Count(size_t rows) {
    const uint64_t cutoff = plan_.options.cutoff;
    if (cutoff > 0 && outcome_.total_found + rows >= cutoff) {
      rows = static_cast<size_t>(cutoff - outcome_.total_found);
      cut_off_ = true;
    }
    outcome_.total_found += rows;
    return rows;
  }

  Status Scan(const ScanConsumer& consume, ScanStep first = ScanStep::kContinue) {
    ASSIGN_OR_RETURN(const ScanEnd end, RunScan(input_, consume, first));
    outcome_.total_found += end.only_counted;
    outcome_.out_of_time = !end.complete && context_.cancel.DeadlinePassed();
    outcome_.complete = !outcome_.out_of_time && !cut_off_;
    return Status::Ok();
  }

  // What is left to do when no more rows are needed.
  ScanStep WhenFull() const {
    if (CountIsKnown()) {
      return ScanStep::kStop;
    }
    return plan_.options.cutoff == 0 ? ScanStep::kCount : ScanStep::kContinue;
  }

  // Rows go out while they are read.
  Status RunUnordered() {
    const RowWindow window = plan_.window;
    RETURN_IF_ERROR(Scan([&](ScanBatch& batch) -> Result<ScanStep> {
      const uint64_t before = outcome_.total_found;
      const uint64_t after = before + Count(batch.size());
      const uint64_t begin = std::max(before, window.offset);
      const uint64_t end = std::min(after, window.end);
      if (begin < end) {
        RETURN_IF_ERROR(
            sender_.Send(batch, static_cast<size_t>(begin - before), static_cast<size_t>(end - before)));
      }
      if (cut_off_) {
        return ScanStep::kStop;
      }
      return after >= window.end ? WhenFull() : ScanStep::kContinue;
    }));
    if (CountIsKnown() && !outcome_.out_of_time) {
      outcome_.total_found = plan_.source->live_count();
    }
    return Status::Ok();
  }

  Status RunOrdered() {
    TopRows top(plan_.order, plan_.collation, static_cast<size_t>(plan_.window.end));
    Operands keys(plan_.order.size());
    std::vector<uint32_t> candidates;
    RETURN_IF_ERROR(Scan([&](ScanBatch& batch) -> Result<ScanStep> {
      const size_t rows = Count(batch.size());
      if (plan_.window.end > 0) {
        RETURN_IF_ERROR(EvaluateKeys(plan_.order, batch, keys));
        top.FindCandidates(keys, rows, candidates);
        RETURN_IF_ERROR(AddCandidates(batch, keys, candidates, top));
      }
      return cut_off_ ? ScanStep::kStop : ScanStep::kContinue;
    }));
    return SendRanked(top.Take(), nullptr);
  }

  static Status AddCandidates(ScanBatch& batch, const Operands& keys, const std::vector<uint32_t>& candidates,
                              TopRows& top) {
    if (candidates.empty()) {
      return Status::Ok();
    }
    ASSIGN_OR_RETURN(const auto ids, batch.Ids());
    for (const uint32_t i : candidates) {
      top.Add(keys, i, batch.row(i), static_cast<uint64_t>(ids[i]));
    }
    return Status::Ok();
  }

  // The window of ordered rows, fetched in batches.
  Status SendRanked(const std::vector<RankedRow>& ranked, const GroupValues* groups) {
    const uint64_t end = std::min<uint64_t>(ranked.size(), plan_.window.end);
    for (uint64_t begin = plan_.window.offset; begin < end; begin += kBatchRows) {
      RETURN_IF_ERROR(context_.cancel.Check());
      const uint64_t stop = std::min<uint64_t>(end, begin + kBatchRows);
      std::vector<RowRef> rows;
      std::vector<uint32_t> group_numbers;
      for (uint64_t i = begin; i < stop; ++i) {
        rows.push_back(ranked[i].row);
        group_numbers.push_back(ranked[i].group);
      }
      const size_t count = rows.size();
      GatherBatch batch(readers_, plan_.slots, std::move(rows), groups, std::move(group_numbers));
      RETURN_IF_ERROR(sender_.Send(batch, 0, count));
    }
    return Status::Ok();
  }

  // COUNT(*) and nothing else, of all rows that pass.
  bool OnlyCountsRows() const {
    return plan_.grouping.keys.empty() && !plan_.grouping.keep_rows && plan_.options.cutoff == 0 &&
           std::all_of(plan_.aggregates.begin(), plan_.aggregates.end(),
                       [](const AggregateCall& call) { return call.state->only_counts_rows(); });
  }

  Status CountRows() {
    if (CountIsKnown()) {
      outcome_.total_found = plan_.source->live_count();
      return Status::Ok();
    }
    return Scan([](ScanBatch&) { return ScanStep::kCount; }, ScanStep::kCount);
  }

  Status RunGrouped() {
    const bool only_counts = OnlyCountsRows();  // it looks at the keys, which then move
    Grouper grouper(std::move(plan_.grouping), plan_.aggregates);
    if (only_counts) {
      RETURN_IF_ERROR(CountRows());
      for (const AggregateCall& call : plan_.aggregates) {
        call.state->AddUnread(0, outcome_.total_found);
      }
      return SendGroups(grouper);
    }
    RETURN_IF_ERROR(Scan([&](ScanBatch& batch) -> Result<ScanStep> {
      const size_t rows = Count(batch.size());
      if (rows < batch.size()) {
        batch.Truncate(rows);
      }
      RETURN_IF_ERROR(grouper.Add(batch));
      return cut_off_ ? ScanStep::kStop : ScanStep::kContinue;
    }));
    return SendGroups(grouper);
  }

  // Groups by the document id of their first row, so that unordered answers do not depend on the storage.
  std::vector<uint32_t> GroupsInOrder(const Grouper& grouper) const {
    std::vector<uint32_t> groups(grouper.group_count());
    for (uint32_t g = 0; g < groups.size(); ++g) {
      groups[g] = g;
    }
    std::sort(groups.begin(), groups.end(), [&](uint32_t a, uint32_t b) {
      const uint64_t id_a = grouper.FirstId(a);
      const uint64_t id_b = grouper.FirstId(b);
      return id_a != id_b ? id_a < id_b : a < b;
    });
    return groups;
  }

  Status SendGroups(Grouper& grouper) {
    TopRows top(plan_.order, plan_.collation, static_cast<size_t>(plan_.window.end));
    std::vector<RowRef> rows;
    std::vector<RowRef> taken;
    std::vector<uint32_t> groups;
    uint64_t sequence = 0;
    outcome_.total_found = 0;
    const auto flush = [&]() -> Status {
      RETURN_IF_ERROR(RankGroups(grouper, rows, groups, sequence, top));
      rows.clear();
      groups.clear();
      return context_.cancel.Check();
    };
    for (const uint32_t group : GroupsInOrder(grouper)) {
      taken.clear();
      grouper.TakeRows(group, taken);
      for (const RowRef row : taken) {
        rows.push_back(row);
        groups.push_back(group);
        if (rows.size() == kBatchRows) {
          RETURN_IF_ERROR(flush());
        }
      }
    }
    RETURN_IF_ERROR(flush());
    return SendRanked(top.Take(), &grouper);
  }

  // Puts the rows whose group passes HAVING into their order.
  Status RankGroups(const Grouper& grouper, const std::vector<RowRef>& rows,
                    const std::vector<uint32_t>& groups, uint64_t& sequence, TopRows& top) {
    if (rows.empty()) {
      return Status::Ok();
    }
    GatherBatch batch(readers_, plan_.slots, rows, &grouper, groups);
    Vector passes;
    if (plan_.having != nullptr) {
      RETURN_IF_ERROR(plan_.having->Evaluate(batch, passes));
    }
    Operands keys(plan_.order.size());
    RETURN_IF_ERROR(EvaluateKeys(plan_.order, batch, keys));
    for (size_t i = 0; i < rows.size(); ++i) {
      if (plan_.having == nullptr || (passes.ints()[i] != 0 && !passes.IsNull(i))) {
        ++outcome_.total_found;
        top.Add(keys, i, rows[i], sequence++, groups[i]);
      }
    }
    return Status::Ok();
  }

  SelectPlan& plan_;
  StatementContext& context_;
  RowSender sender_;
  SourceReaders readers_;  // of the rows of the answer
  ScanInput input_;
  SelectOutcome outcome_;
  bool cut_off_ = false;
};

}  // namespace

Result<SelectOutcome> RunSelect(SelectPlan& plan, StatementContext& context) {
  return SelectRun(plan, context).Run();
}

}  // namespace stoa::sql
