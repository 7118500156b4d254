#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_folder.h"
#include "storage/column/column_input.h"
#include "storage/column/file_column.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

inline constexpr SectionFileKind kTestFileKind{{'T', 'E', 'S', 'T'},
                                               {.kind = "test file", .oldest_readable = 1, .current = 1}};

// Values of lane kBytes, in pieces of `piece` rows.
class BytesInput : public ColumnInput {
 public:
  BytesInput(ColumnType type, const std::vector<std::string>& values, size_t piece = 2048)
      : type_(type), values_(values), piece_(piece) {}

  uint32_t row_count() const override { return static_cast<uint32_t>(values_.size()); }
  Status Rewind() override {
    next_ = 0;
    return Status::Ok();
  }
  Result<const ColumnValues*> Next() override {
    current_ = ColumnValues();
    current_.type = type_;
    if (next_ == values_.size()) {
      return nullptr;
    }
    const size_t end = std::min(values_.size(), next_ + piece_);
    for (; next_ < end; ++next_) {
      current_.AppendBytes(values_[next_]);
    }
    return &current_;
  }

 private:
  ColumnType type_;
  const std::vector<std::string>& values_;
  size_t piece_;
  size_t next_ = 0;
  ColumnValues current_;
};

// A file with one column, written and opened by the functions under test.
class ColumnFile {
 public:
  using Write = Status (*)(const ColumnDefinition&, ColumnInput&, SectionFileWriter&);
  using Open = Result<std::shared_ptr<const FileColumn>> (*)(std::shared_ptr<const OpenSectionFile>,
                                                             ColumnId);

  ColumnFile(ColumnDefinition definition, Write write, Open open)
      : definition_(std::move(definition)), write_(write), open_(open) {}

  std::string path() const { return folder_ / "column"; }
  const ColumnDefinition& definition() const { return definition_; }

  void WriteValues(const std::vector<std::string>& values) {
    BytesInput input(definition_.type, values);
    auto file = Env::Posix().Create(path());
    REQUIRE(file.ok());
    SectionFileWriter writer(**file, kTestFileKind, 1);
    const Status written = write_(definition_, input, writer);
    INFO(written.text());
    REQUIRE(written.ok());
    REQUIRE(writer.Finish().ok());
    REQUIRE((*file)->Close().ok());
  }
  std::shared_ptr<const OpenSectionFile> OpenSections(AccessMode mode) const {
    auto file = OpenSectionFile::Open(Env::Posix(), path(), kTestFileKind, mode);
    INFO(file.status().text());
    REQUIRE(file.ok());
    return *file;
  }
  std::shared_ptr<const FileColumn> OpenColumn(AccessMode mode) const {
    auto column = open_(OpenSections(mode), definition_.id);
    INFO(column.status().text());
    REQUIRE(column.ok());
    return *column;
  }

 private:
  TemporaryFolder folder_;
  ColumnDefinition definition_;
  Write write_;
  Open open_;
};

inline std::vector<RowId> RowsFromTo(size_t first, size_t last, size_t step = 1) {
  std::vector<RowId> rows;
  for (size_t row = first; row < last; row += step) {
    rows.emplace_back(static_cast<uint32_t>(row));
  }
  return rows;
}

inline std::vector<std::string_view> ReadRows(ColumnReader& reader, const std::vector<RowId>& rows,
                                              ReadBuffer& buffer) {
  std::vector<std::string_view> values(rows.size());
  const Status read = reader.ReadBytes(rows, values, buffer);
  INFO(read.text());
  REQUIRE(read.ok());
  return values;
}

// The same values come back in both access modes, all at once, some, and one.
inline void CheckRoundTrip(ColumnFile& file, const std::vector<std::string>& values, size_t alignment = 1) {
  file.WriteValues(values);
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    const auto column = file.OpenColumn(mode);
    REQUIRE(column->row_count() == values.size());
    REQUIRE(column->type() == file.definition().type);
    const Status checked = column->Check();
    INFO(checked.text());
    REQUIRE(checked.ok());
    const auto reader = column->NewReader(column, column->type());
    std::vector<std::vector<RowId>> batches{RowsFromTo(0, values.size()),
                                            RowsFromTo(0, values.size(), 7),
                                            RowsFromTo(values.size() / 2, values.size(), 1500),
                                            {}};
    if (!values.empty()) {
      const RowId last(static_cast<uint32_t>(values.size() - 1));
      batches.push_back({RowId(0), RowId(0), last, last});
      batches.push_back({last});
    }
    for (const std::vector<RowId>& rows : batches) {
      ReadBuffer buffer;
      const auto read = ReadRows(*reader, rows, buffer);
      size_t wrong = 0;
      for (size_t i = 0; i < rows.size(); ++i) {
        wrong += read[i] == values[rows[i].value] ? 0 : 1;
        wrong += read[i].empty() || reinterpret_cast<uintptr_t>(read[i].data()) % alignment == 0 ? 0 : 1;
      }
      REQUIRE(wrong == 0);
    }
  }
}

}  // namespace stoa::storage
