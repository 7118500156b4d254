#include <algorithm>
#include <utility>

#include "storage/chunk/patch_overlay.h"

namespace stoa::storage {
namespace {

// What `Satisfies` compares: a plain value against each kind of condition. Conditions of another lane hold
// for nothing; PatchedReader::Select refuses them before.
bool Holds(const IntRange& range, int64_t value) { return value >= range.low && value <= range.high; }
bool Holds(const IntSet& set, int64_t value) {
  return std::binary_search(set.values.begin(), set.values.end(), value);
}
bool Holds(const FloatRange& range, float value) { return value >= range.low && value <= range.high; }
bool Holds(const BytesSet& set, std::string_view value) {
  return std::binary_search(set.values.begin(), set.values.end(), value);
}

bool Satisfies(const ColumnPredicate& predicate, const ColumnValues& values, size_t at) {
  bool holds = false;
  if (const auto* int_range = std::get_if<IntRange>(&predicate.test)) {
    holds = Holds(*int_range, values.ints[at]);
  } else if (const auto* int_set = std::get_if<IntSet>(&predicate.test)) {
    holds = Holds(*int_set, values.ints[at]);
  } else if (const auto* float_range = std::get_if<FloatRange>(&predicate.test)) {
    holds = Holds(*float_range, values.floats[at]);
  } else if (const auto* bytes_set = std::get_if<BytesSet>(&predicate.test)) {
    holds = Holds(*bytes_set, values.BytesAt(at));
  } else if (const auto* bytes_test = std::get_if<BytesTest>(&predicate.test)) {
    holds = (*bytes_test->passes)(values.BytesAt(at));
  }
  return holds != predicate.negated;
}

// The values of a column with the patches of its rows in place of what the chunk holds. Bytes of patches live
// as long as the overlay, which the reader holds.
class PatchedReader : public ColumnReader {
 public:
  PatchedReader(std::unique_ptr<ColumnReader> base, std::shared_ptr<const PatchOverlay::Column> patches)
      : base_(std::move(base)), patches_(std::move(patches)) {}

  ColumnType type() const override { return base_->type(); }

  Status ReadInts(std::span<const RowId> rows, std::span<int64_t> values) override {
    RETURN_IF_ERROR(base_->ReadInts(rows, values));
    ForEachPatched(rows, [&](size_t i, const PatchBlock& patch, size_t at) {  //
      values[i] = patch.values.ints[at];
    });
    return Status::Ok();
  }
  Status ReadFloats(std::span<const RowId> rows, std::span<float> values) override {
    RETURN_IF_ERROR(base_->ReadFloats(rows, values));
    ForEachPatched(
        rows, [&](size_t i, const PatchBlock& patch, size_t at) { values[i] = patch.values.floats[at]; });
    return Status::Ok();
  }
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override {
    RETURN_IF_ERROR(base_->ReadBytes(rows, values, buffer));
    ForEachPatched(
        rows, [&](size_t i, const PatchBlock& patch, size_t at) { values[i] = patch.values.BytesAt(at); });
    return Status::Ok();
  }

  // The base tests the values it has; patched rows are tested again, with the new value.
  Status Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) override {
    const PatchBlock* patch = patches_->Find(block);
    if (patch == nullptr) {
      return base_->Select(block, predicate, bits);
    }
    if (predicate.lane() != LaneOf(type())) {
      return InternalError("a condition of another lane than the column's");
    }
    const BlockBits asked = bits;
    RETURN_IF_ERROR(base_->Select(block, predicate, bits));
    for (size_t i = 0; i < patch->rows.size(); ++i) {
      const uint32_t row = patch->rows[i];
      const uint64_t bit = uint64_t{1} << (row % 64);
      if ((asked[row / 64] & bit) == 0) {
        continue;
      }
      uint64_t& word = bits[row / 64];
      word = Satisfies(predicate, patch->values, i) ? word | bit : word & ~bit;
    }
    return Status::Ok();
  }

 private:
  // Calls `apply(i, patch, at)` for each rows[i] that has a patch, number `at` of its block.
  template <typename Apply>
  void ForEachPatched(std::span<const RowId> rows, const Apply& apply) const {
    size_t done = 0;
    while (done < rows.size()) {
      const uint32_t block = rows[done].value / kBlockRows;
      size_t last = done + 1;
      while (last < rows.size() && rows[last].value / kBlockRows == block) {
        ++last;
      }
      if (const PatchBlock* patch = patches_->Find(block); patch != nullptr) {
        ApplyBlock(rows, {done, last}, *patch, apply);
      }
      done = last;
    }
  }

  // Walks both lists when many rows are asked for, else looks each row up.
  template <typename Apply>
  static void ApplyBlock(std::span<const RowId> rows, std::pair<size_t, size_t> run, const PatchBlock& patch,
                         const Apply& apply) {
    const auto& patched = patch.rows;
    const bool walk = (run.second - run.first) * 8 >= patched.size();
    size_t at = 0;
    for (size_t i = run.first; i < run.second; ++i) {
      const uint32_t row = rows[i].value % kBlockRows;
      if (walk) {
        while (at < patched.size() && patched[at] < row) {
          ++at;
        }
      } else {
        at = static_cast<size_t>(
            std::lower_bound(patched.begin() + static_cast<ptrdiff_t>(at), patched.end(), row) -
            patched.begin());
      }
      if (at == patched.size()) {
        return;
      }
      if (patched[at] == row) {
        apply(i, patch, at);
      }
    }
  }

  std::unique_ptr<ColumnReader> base_;
  std::shared_ptr<const PatchOverlay::Column> patches_;
};

}  // namespace

std::unique_ptr<ColumnReader> MakePatchedReader(std::unique_ptr<ColumnReader> base,
                                                std::shared_ptr<const PatchOverlay::Column> patches) {
  if (patches == nullptr || LaneOf(patches->type) != LaneOf(base->type())) {
    return base;
  }
  return std::make_unique<PatchedReader>(std::move(base), std::move(patches));
}

}  // namespace stoa::storage
