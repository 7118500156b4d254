#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_sections.h"
#include "storage/base/memory_env.h"
#include "storage/column/set_column.h"
#include "storage/column/text_column.h"
#include "storage/column/vector_column.h"

// A column is written from values that the input describes and must come back; then bytes of its sections are
// changed, as the input says, under right checksums: reading must end with a status.

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

constexpr SectionFileKind kKind{{'F', 'U', 'Z', 'Z'}, {.kind = "file", .oldest_readable = 1, .current = 1}};
constexpr char kPath[] = "/d/column";

class FuzzColumn : public ColumnInput {
 public:
  explicit FuzzColumn(FuzzInput& input) {
    constexpr ColumnType kTypes[] = {ColumnType::kString, ColumnType::kMulti, ColumnType::kMulti64,
                                     ColumnType::kFloatVector, ColumnType::kFloatVectorArray};
    definition_.id = ColumnId(2);
    definition_.type = kTypes[input.Take(1) % 5];
    definition_.hash = input.Take(1) % 2 == 0;
    const uint32_t rows = input.Take(2) % 3000;
    const uint32_t distinct = input.Take(1) % 64 + 1;
    const uint32_t longest = input.Take(1) % 32;
    uint32_t state = input.Take(2);
    for (uint32_t row = 0; row < rows; ++row) {
      state = state * 1664525 + 1013904223;
      values_.push_back(ValueOf((state >> 8) % distinct, longest));
    }
  }

  const ColumnDefinition& definition() const { return definition_; }
  const std::vector<std::string>& values() const { return values_; }
  uint32_t row_count() const override { return static_cast<uint32_t>(values_.size()); }
  Status Rewind() override {
    next_ = 0;
    return Status::Ok();
  }
  Result<const ColumnValues*> Next() override {
    piece_ = ColumnValues();
    piece_.type = definition_.type;
    if (next_ == values_.size()) {
      return nullptr;
    }
    for (const size_t end = std::min<size_t>(values_.size(), next_ + 2048); next_ < end; ++next_) {
      piece_.AppendBytes(values_[next_]);
    }
    return &piece_;
  }

 private:
  std::string ValueOf(uint32_t number, uint32_t longest) const {
    const uint32_t items = longest == 0 ? 0 : number * 7 % longest;
    std::string value;
    const size_t item_size = definition_.type == ColumnType::kString    ? 1
                             : definition_.type == ColumnType::kMulti64 ? 8
                                                                        : 4;
    if (definition_.type == ColumnType::kFloatVectorArray && items > 0) {
      const uint32_t dims = items;
      value.append(reinterpret_cast<const char*>(&dims), sizeof(dims));
    }
    for (uint32_t i = 0; i < items; ++i) {
      const uint64_t item = number + i + 1;
      value.append(reinterpret_cast<const char*>(&item), item_size);
    }
    return value;
  }

  ColumnDefinition definition_;
  std::vector<std::string> values_;
  size_t next_ = 0;
  ColumnValues piece_;
};

Status WriteColumn(FuzzColumn& column, SectionFileWriter& file) {
  switch (column.definition().type) {
    case ColumnType::kString:
      return WriteTextColumn(column.definition(), column, file);
    case ColumnType::kMulti:
    case ColumnType::kMulti64:
      return WriteSetColumn(column.definition(), column, file);
    default:
      return WriteVectorColumn(column.definition(), column, file);
  }
}

Result<std::shared_ptr<const FileColumn>> OpenColumn(std::shared_ptr<const OpenSectionFile> file,
                                                     ColumnType type) {
  switch (type) {
    case ColumnType::kString:
      return OpenTextColumn(std::move(file), ColumnId(2));
    case ColumnType::kMulti:
    case ColumnType::kMulti64:
      return OpenSetColumn(std::move(file), ColumnId(2));
    default:
      return OpenVectorColumn(std::move(file), ColumnId(2));
  }
}

// Reads every byte that a value says it has.
uint64_t Sum(std::string_view value) {
  uint64_t sum = 0;
  for (const char byte : value) {
    sum += static_cast<uint8_t>(byte);
  }
  return sum;
}

// `values`: what must come back; nullptr when the file was damaged.
void ReadRows(const std::shared_ptr<const FileColumn>& column, uint32_t step,
              const std::vector<std::string>* values) {
  const auto reader = column->NewReader(column, column->type());
  std::vector<RowId> rows;
  for (uint64_t row = 0; row < std::min<uint64_t>(column->row_count(), 10'000); row += step) {
    rows.emplace_back(static_cast<uint32_t>(row));
  }
  std::vector<std::string_view> read(rows.size());
  ReadBuffer buffer;
  const Status status = reader->ReadBytes(rows, read, buffer);
  if (!status.ok()) {
    Require(values == nullptr);
    return;
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    sum += Sum(read[i]);
    Require(values == nullptr || read[i] == (*values)[rows[i].value]);
  }
  Require(sum < uint64_t{1} << 40);
}

void SelectRows(const std::shared_ptr<const FileColumn>& column, const std::string& text) {
  const auto reader = column->NewReader(column, column->type());
  for (uint32_t block = 0; block < std::min<uint32_t>(column->row_count() / kBlockRows, 10); ++block) {
    BlockBits bits;
    bits.fill(~uint64_t{0});
    (void)reader->Select(block, {.test = BytesSet{{text}}}, bits);
  }
}

void ReadVectors(const VectorColumn& column) {
  std::vector<RowId> rows;
  for (uint32_t row = 0; row < std::min<uint32_t>(column.row_count(), 3000); row += 3) {
    rows.emplace_back(row);
  }
  std::vector<const float*> vectors(rows.size());
  ReadBuffer buffer;
  if (column.ReadVectors(rows, vectors, buffer).ok()) {
    for (const float* vector : vectors) {
      if (vector != nullptr) {
        (void)Sum({reinterpret_cast<const char*>(vector), column.dims() * sizeof(float)});
      }
    }
  }
}

void ReadColumn(MemoryEnv& env, AccessMode mode, ColumnType type, const std::vector<std::string>* values) {
  const auto file = OpenSectionFile::Open(env, kPath, kKind, mode);
  Require(file.ok());
  const auto column = OpenColumn(*file, type);
  if (!column.ok()) {
    Require(values == nullptr);
    return;
  }
  Require(values == nullptr || ((*column)->row_count() == values->size() && (*column)->type() == type));
  ReadRows(*column, 1, values);
  ReadRows(*column, 5, values);
  if (type == ColumnType::kString) {
    SelectRows(*column, values == nullptr || values->empty() ? "\1\2\3" : values->front());
  } else if (type == ColumnType::kFloatVector || type == ColumnType::kFloatVectorArray) {
    ReadVectors(static_cast<const VectorColumn&>(**column));
  }
  // Arrays of other forms than the writer's callers make are no values of the type.
  const Status checked = (*column)->Check();
  Require(values == nullptr || checked.ok());
}

void WriteSound(MemoryEnv& env, FuzzColumn& column) {
  auto file = env.Create(kPath);
  Require(file.ok());
  SectionFileWriter writer(**file, kKind, 1);
  Require(WriteColumn(column, writer).ok() && writer.Finish().ok() && (*file)->Close().ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput input({reinterpret_cast<const char*>(data), size});
  FuzzColumn column(input);
  MemoryEnv env;
  Require(env.MakeFolder("/d").ok());
  WriteSound(env, column);
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    ReadColumn(env, mode, column.definition().type, &column.values());
  }
  std::vector<FuzzSection> sections = ReadSections(env, kPath, kKind);
  Damage(sections, input);
  WriteSections(env, kPath, kKind, 1, sections);
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    ReadColumn(env, mode, column.definition().type, nullptr);
  }
  return 0;
}
