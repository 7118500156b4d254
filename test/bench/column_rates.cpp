// Rates and sizes of columnar files, without a server (ninja column_rates):
//   column_rates rates FOLDER [MILLIONS OF ROWS TO FILTER] [MILLIONS OF ROWS TO READ]
//   column_rates sizes FOLDER DDL CSV     bytes of each column of a table: CREATE TABLE and its rows
// `rates` prints values a second of processor time of one thread, mapped and warm.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "storage/base/env.h"
#include "storage/column/file_column.h"
#include "storage/column/number_kernels.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

constexpr SectionFileKind kKind{{'B', 'N', 'C', 'H'},
                                {.kind = "benchmark file", .oldest_readable = 1, .current = 1}};

void Check(const Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
  }
}
template <typename T>
T Take(Result<T> result) {
  Check(result.status());
  return std::move(result).value();
}

// Processor time of this thread: others may be busy on the machine.
double Seconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double start = now();
  work();
  return now() - start;
}

// Rows made by a function of their number.
class MadeInput : public ColumnInput {
 public:
  MadeInput(uint32_t rows, std::function<int64_t(uint64_t)> make) : rows_(rows), make_(std::move(make)) {}
  uint32_t row_count() const override { return rows_; }
  Status Rewind() override {
    next_ = 0;
    return Status::Ok();
  }
  Result<const ColumnValues*> Next() override {
    values_.ints.clear();
    for (; next_ < rows_ && values_.ints.size() < 65'536; ++next_) {
      values_.ints.push_back(make_(next_));
    }
    return values_.ints.empty() ? nullptr : &values_;
  }

 private:
  uint32_t rows_;
  uint32_t next_ = 0;
  std::function<int64_t(uint64_t)> make_;
  ColumnValues values_;
};

// All values at once.
class WholeInput : public ColumnInput {
 public:
  explicit WholeInput(const ColumnValues& values) : values_(values) {}
  uint32_t row_count() const override { return static_cast<uint32_t>(values_.size()); }
  Status Rewind() override {
    next_ = 0;
    return Status::Ok();
  }
  Result<const ColumnValues*> Next() override {
    piece_ = ColumnValues{.column = values_.column, .type = values_.type};
    for (; next_ < values_.size() && piece_.size() < 65'536; ++next_) {
      if (LaneOf(values_.type) == Lane::kInt) {
        piece_.AppendInt(values_.ints[next_]);
      } else if (LaneOf(values_.type) == Lane::kFloat) {
        piece_.AppendFloat(values_.floats[next_]);
      } else {
        piece_.AppendBytes(values_.BytesAt(next_));
      }
    }
    return piece_.size() == 0 ? nullptr : &piece_;
  }

 private:
  const ColumnValues& values_;
  size_t next_ = 0;
  ColumnValues piece_;
};

uint64_t WriteColumn(const std::string& path, const ColumnDefinition& definition, ColumnInput& input) {
  auto file = Take(Env::Posix().Create(path));
  SectionFileWriter writer(*file, kKind, 1);
  Check(WriteFileColumn(definition, input, writer));
  Check(writer.Finish());
  Check(file->Close());
  return writer.size();
}

std::shared_ptr<const FileColumn> OpenColumn(const std::string& path, ColumnId id) {
  auto file = Take(OpenSectionFile::Open(Env::Posix(), path, kKind, AccessMode::kMmap));
  auto column = Take(OpenFileColumn(std::move(file), id));
  Check(column->Check());  // and warm
  return column;
}

uint64_t Mixed(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

ColumnDefinition IntColumn() {
  ColumnDefinition definition;
  definition.id = ColumnId(1);
  definition.type = ColumnType::kInt;
  return definition;
}

void FilterRates(const std::string& folder, uint32_t rows) {
  const std::string path = folder + "/filter";
  MadeInput input(rows, [](uint64_t row) { return static_cast<int64_t>(Mixed(row) % 4096); });
  uint64_t bytes = 0;
  const double writing = Seconds([&] { bytes = WriteColumn(path, IntColumn(), input); });
  std::printf("write %.1f M values/s, %.3f bytes a value\n", rows / writing / 1e6,
              static_cast<double>(bytes) / rows);
  const auto column = OpenColumn(path, ColumnId(1));
  const auto reader = column->NewReader(column, ColumnType::kInt);
  for (const int percent : {1, 50}) {
    const ColumnPredicate predicate{IntRange{1000, 1000 + 4096 * percent / 100 - 1}};
    uint64_t passing = 0;
    const double filtering = Seconds([&] {
      for (uint32_t block = 0; block < rows / kBlockRows; ++block) {
        BlockBits bits;
        bits.fill(~uint64_t{0});
        Check(reader->Select(block, predicate, bits));
        for (const uint64_t word : bits) {
          passing += word & 1;
        }
      }
    });
    std::printf("filter BETWEEN, %d %% pass: %.2f G values/s (%.2f %% of every 64th row)\n", percent,
                rows / filtering / 1e9, 6400.0 * static_cast<double>(passing) / rows);
  }
  std::vector<RowId> all(65'536);
  std::vector<int64_t> values(all.size());
  int64_t sum = 0;
  const double scanning = Seconds([&] {
    for (uint32_t first = 0; first + all.size() <= rows; first += static_cast<uint32_t>(all.size())) {
      for (uint32_t i = 0; i < all.size(); ++i) {
        all[i] = RowId(first + i);
      }
      Check(reader->ReadInts(all, values));
      sum += values[0];
    }
  });
  std::printf("read all rows in order: %.2f G values/s (%lld)\n", rows / scanning / 1e9,
              static_cast<long long>(sum % 10));
}

void ReadRates(const std::string& folder, uint32_t rows) {
  const std::string path = folder + "/read";
  MadeInput input(rows, [](uint64_t row) { return static_cast<int64_t>(Mixed(row) % 1'000'000); });
  (void)WriteColumn(path, IntColumn(), input);
  const auto column = OpenColumn(path, ColumnId(1));
  const auto reader = column->NewReader(column, ColumnType::kInt);
  constexpr size_t kBatches = 1000;
  std::mt19937 random(1);
  std::vector<std::vector<RowId>> batches(kBatches);
  for (auto& batch : batches) {
    for (int i = 0; i < 1024; ++i) {
      batch.emplace_back(static_cast<uint32_t>(random() % rows));
    }
    std::sort(batch.begin(), batch.end());
  }
  std::vector<int64_t> values(1024);
  int64_t sum = 0;
  std::vector<int32_t> plain(rows);
  for (uint32_t row = 0; row < rows; ++row) {
    plain[row] = static_cast<int32_t>(Mixed(row) % 1'000'000);
  }
  for (int round = 0; round < 3; ++round) {
    const double gathering = Seconds([&] {
      for (const auto& batch : batches) {
        for (size_t i = 0; i < batch.size(); ++i) {
          values[i] = plain[batch[i].value];
        }
        sum += values[round];
      }
    });
    std::printf("the same of an array of int32: %.1f M values/s (%lld)\n",
                1024.0 * kBatches / gathering / 1e6, static_cast<long long>(sum % 10));
    const double reading = Seconds([&] {
      for (const auto& batch : batches) {
        Check(reader->ReadInts(batch, values));
        sum += values[round];
      }
    });
    std::printf("read 1,024 random rows of %.0f M: %.1f M values/s (%lld)\n", rows / 1e6,
                1024.0 * kBatches / reading / 1e6, static_cast<long long>(sum % 10));
  }
}

struct TableColumn {
  ColumnDefinition definition;
  ColumnValues values;
};

// "create table t (name type, …)": the columns behind the id.
std::vector<TableColumn> ParseDdl(const std::string& path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  text = text.substr(text.find('(') + 1, text.rfind(')') - text.find('(') - 1);
  std::vector<TableColumn> columns(1);
  columns[0].definition.type = ColumnType::kId;
  columns[0].definition.name = "id";
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream words(part);
    TableColumn column;
    std::string type;
    words >> column.definition.name >> type;
    column.definition.id = ColumnId(static_cast<uint32_t>(columns.size()));
    column.definition.type = type == "string"      ? ColumnType::kString
                             : type == "float"     ? ColumnType::kFloat
                             : type == "timestamp" ? ColumnType::kTimestamp
                                                   : ColumnType::kInt;
    columns.push_back(std::move(column));
  }
  for (TableColumn& column : columns) {
    column.values.type = column.definition.type;
  }
  return columns;
}

void AppendCell(ColumnValues& values, const std::string& cell) {
  if (LaneOf(values.type) == Lane::kInt) {
    values.AppendInt(std::strtoll(cell.c_str(), nullptr, 10));
  } else if (LaneOf(values.type) == Lane::kFloat) {
    values.AppendFloat(std::strtof(cell.c_str(), nullptr));
  } else {
    values.AppendBytes(cell);
  }
}

void Sizes(const std::string& folder, const std::string& ddl, const std::string& csv) {
  std::vector<TableColumn> columns = ParseDdl(ddl);
  std::ifstream file(csv);
  size_t rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    size_t begin = 0;
    for (TableColumn& column : columns) {
      const bool quoted = begin < line.size() && line[begin] == '"';
      const size_t end =
          std::min(quoted ? line.find('"', begin + 1) + 1 : line.find(',', begin), line.size());
      AppendCell(column.values,
                 quoted ? line.substr(begin + 1, end - begin - 2) : line.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  uint64_t total = 0;
  double writing = 0;
  for (const TableColumn& column : columns) {
    WholeInput input(column.values);
    uint64_t bytes = 0;
    writing += Seconds([&] { bytes = WriteColumn(folder + "/size", column.definition, input); });
    (void)OpenColumn(folder + "/size", column.definition.id);
    std::printf("%-24s %12llu %8.3f\n", column.definition.name.c_str(),
                static_cast<unsigned long long>(bytes),
                static_cast<double>(bytes) / static_cast<double>(rows));
    total += bytes;
  }
  std::printf("%zu rows, %llu bytes, %.2f a row, written in %.1f s\n", rows,
              static_cast<unsigned long long>(total), static_cast<double>(total) / static_cast<double>(rows),
              writing);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, double otherwise) {
    return static_cast<uint32_t>((argc > index ? std::atof(argv[index]) : otherwise) * 1e6);
  };
  if (argc >= 3 && std::strcmp(argv[1], "rates") == 0) {
    std::printf("instruction set %s\n", NumberKernelTarget());
    FilterRates(argv[2], number(3, 100));
    ReadRates(argv[2], number(4, 5));
  } else if (argc == 5 && std::strcmp(argv[1], "sizes") == 0) {
    Sizes(argv[2], argv[3], argv[4]);
  } else {
    std::fprintf(stderr, "column_rates rates FOLDER [FILTER] [READ] | column_rates sizes FOLDER DDL CSV\n");
    return 2;
  }
  return 0;
}
