#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz_sections.h"
#include "storage/base/memory_env.h"
#include "storage/column/number_column.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

constexpr SectionFileKind kKind{{'F', 'U', 'Z', 'Z'},
                                {.kind = "fuzzed file", .oldest_readable = 1, .current = 1}};
constexpr const char* kPath = "/column";
constexpr ColumnId kColumn{1};
constexpr uint32_t kMostRows = 20'000;

class WholeInput : public ColumnInput {
 public:
  explicit WholeInput(const ColumnValues& values) : values_(values) {}
  uint32_t row_count() const override { return static_cast<uint32_t>(values_.size()); }
  Status Rewind() override { return Status::Ok(); }
  Result<const ColumnValues*> Next() override {
    const bool first = !std::exchange(given_, true);
    return first && values_.size() > 0 ? &values_ : nullptr;
  }

 private:
  const ColumnValues& values_;
  bool given_ = false;
};

void SelectAll(ColumnReader& reader, uint32_t rows, const std::vector<int64_t>& members) {
  const std::vector<ColumnPredicate> predicates{
      {IntRange{-5, 1000}}, {IntSet{members}, true}, {FloatRange{-1.5f, 2e9f}}};
  for (const ColumnPredicate& predicate : predicates) {
    for (uint32_t row = 0; row < rows; row += kBlockRows) {
      BlockBits bits;
      bits.fill(~uint64_t{0});
      (void)reader.Select(row / kBlockRows, predicate, bits);
    }
  }
}

// Values read in some ways; all of them when there is no error. Whatever the bytes are, nothing is read out
// of bounds.
std::vector<int64_t> ReadAll(const std::shared_ptr<const FileColumn>& column) {
  const uint32_t rows = std::min(column->row_count(), kMostRows);
  (void)column->Check();
  const auto reader = column->NewReader(column, column->type());
  std::vector<int64_t> all;
  for (const uint32_t step : {1u, 5u, 40u, 1500u}) {
    std::vector<RowId> ids;
    for (uint32_t row = 0; row < rows; row += step) {
      ids.emplace_back(row);
    }
    std::vector<int64_t> values(ids.size());
    if (LaneOf(column->type()) == Lane::kInt) {
      (void)reader->ReadInts(ids, values);
    } else {
      std::vector<float> floats(ids.size());
      (void)reader->ReadFloats(ids, floats);
      for (size_t i = 0; i < floats.size(); ++i) {
        uint32_t bits;
        std::memcpy(&bits, &floats[i], sizeof(bits));
        values[i] = bits;
      }
    }
    if (step == 1) {
      all = std::move(values);
    }
  }
  std::vector<int64_t> members(all.begin(), all.begin() + std::min<ptrdiff_t>(20, std::ssize(all)));
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  SelectAll(*reader, rows, members);
  return all;
}

// Sections as a writer would frame them, so that the fuzzer need not guess checksums: kind byte, two bytes of
// length, bytes.
void ReadFramed(MemoryEnv& env, std::string_view input) {
  auto file = env.Create(kPath);
  SectionFileWriter writer(**file, kKind, 1);
  while (input.size() >= 3) {
    const size_t length = std::min<size_t>(
        static_cast<uint8_t>(input[1]) + size_t{256} * static_cast<uint8_t>(input[2]), input.size() - 3);
    (void)writer.AddSection(static_cast<uint8_t>(input[0]) % 5, kColumn.value, input.substr(3, length));
    input.remove_prefix(3 + length);
  }
  (void)writer.Finish();
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    const auto sections = OpenSectionFile::Open(env, kPath, kKind, mode);
    if (!sections.ok()) {
      return;
    }
    const auto column = OpenNumberColumn(*sections, kColumn);
    if (column.ok()) {
      (void)ReadAll(*column);
    }
  }
}

// Values are pieces of the input, of one to eight bytes.
ColumnValues ValuesOf(std::string_view input, size_t width, bool floats) {
  ColumnValues values;
  values.type = floats ? ColumnType::kFloat : ColumnType::kBigint;
  for (; input.size() >= width; input.remove_prefix(width)) {
    int64_t value = 0;
    std::memcpy(&value, input.data(), width);
    if (!floats) {
      values.AppendInt(value);
    } else if (width == 4) {
      float number;
      std::memcpy(&number, &value, sizeof(number));
      values.AppendFloat(number);
    } else {
      values.AppendFloat(static_cast<float>(static_cast<double>(value) / 100));
    }
  }
  return values;
}

void RoundTrip(MemoryEnv& env, const ColumnValues& values) {
  auto file = env.Create(kPath);
  SectionFileWriter writer(**file, kKind, 1);
  WholeInput input(values);
  Require(WriteNumbers(values.type, input, writer, kColumn.value).ok());
  Require(writer.Finish().ok());
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    const auto sections = OpenSectionFile::Open(env, kPath, kKind, mode);
    Require(sections.ok());
    const auto column = OpenNumberColumn(*sections, kColumn);
    Require(column.ok() && (*column)->Check().ok());
    const std::vector<int64_t> read = ReadAll(*column);
    for (size_t i = 0; i < read.size(); ++i) {
      if (LaneOf(values.type) == Lane::kInt) {
        Require(read[i] == values.ints[i]);
      } else {
        uint32_t bits;
        std::memcpy(&bits, &values.floats[i], sizeof(bits));
        Require(read[i] == bits);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  MemoryEnv env;
  if (data[0] % 2 == 0) {
    ReadFramed(env, input);
  } else {
    RoundTrip(env, ValuesOf(input, 1 + data[0] / 2 % 8, data[0] / 16 % 2 == 1));
  }
  return 0;
}
