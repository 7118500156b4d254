#include "bench_tables.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "fvecs.h"

namespace stoa::bench {

namespace {

constexpr uint64_t kRowsPerInsert = 100;
constexpr int kLoadConnections = 4;

bool HasTable(Connection& connection, const std::string& table) {
  const Rows tables = connection.Run("SHOW TABLES");
  return std::any_of(tables.begin(), tables.end(), [&](const auto& row) { return row[0] == table; });
}

double TimeOf(Connection& connection, const std::string& sql) {
  const auto start = std::chrono::steady_clock::now();
  connection.Run(sql);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string InsertStatement(const std::string& table, const VectorSet& vectors, uint64_t from, uint64_t to,
                            uint64_t first_id) {
  std::string sql = "INSERT INTO " + table + " (id, g, v) VALUES ";
  for (uint64_t i = from; i < to; ++i) {
    const uint64_t id = first_id + i;
    sql += (i == from ? "(" : ",(") + std::to_string(id) + "," + std::to_string(id % 1000) + ",";
    AppendVector(vectors.at(i), vectors.dims, sql);
    sql += ')';
  }
  return sql;
}

void CreateTable(Connection& connection, const Options& options, const TableSpec& spec) {
  const std::string quantization =
      options.quantization == "none" ? "" : " quantization='" + options.quantization + "'";
  // The RAM part shall take all, so that the graph is built once and fresh rows stay fresh.
  connection.Run("CREATE TABLE " + spec.name + " (g int, v float_vector knn_type='hnsw' knn_dims='" +
                 std::to_string(options.dims) + "' hnsw_similarity='" + options.similarity + "'" +
                 quantization + ") engine='" + spec.engine + "' access_columnar_attrs='" + spec.access +
                 "' rt_mem_limit='8G' diskchunk_flush_write_timeout='-1'");
}

}  // namespace

uint64_t CountRows(Connection& connection, const std::string& table) {
  return std::strtoull(connection.Run("SELECT COUNT(*) FROM " + table).at(0).at(0).c_str(), nullptr, 10);
}

uint64_t DiskChunks(Connection& connection, const std::string& table) {
  return static_cast<uint64_t>(connection.NamedNumber("SHOW TABLE " + table + " STATUS", "disk_chunks"));
}

double Flush(Connection& connection, const std::string& table) {
  return TimeOf(connection, "FLUSH RAMCHUNK " + table);
}

double Optimize(Connection& connection, const std::string& table) {
  return TimeOf(connection, "OPTIMIZE TABLE " + table + " OPTION sync=1, cutoff=1");
}

double InsertVectors(const Options& options, const std::string& table, uint64_t first, uint64_t end) {
  const VectorSet vectors = ReadFvecs(options.base_file(), end - first, first);
  std::atomic<uint64_t> next{0};
  std::vector<std::thread> threads;
  const auto start = std::chrono::steady_clock::now();
  for (int t = 0; t < kLoadConnections; ++t) {
    threads.emplace_back([&] {
      Connection connection(options.endpoint);
      uint64_t from = 0;
      while ((from = next.fetch_add(kRowsPerInsert)) < vectors.size()) {
        const uint64_t to = std::min<uint64_t>(from + kRowsPerInsert, vectors.size());
        connection.Run(InsertStatement(table, vectors, from, to, first + 1));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void EnsureTable(const Options& options, const TableSpec& spec, uint64_t rows) {
  Connection connection(options.endpoint);
  if (HasTable(connection, spec.name)) {
    if (CountRows(connection, spec.name) == rows && DiskChunks(connection, spec.name) == 1) {
      return;
    }
    connection.Run("DROP TABLE " + spec.name);
  }
  CreateTable(connection, options, spec);
  const double load = InsertVectors(options, spec.name, 0, rows);
  const double flush = Flush(connection, spec.name);
  const double optimize = Optimize(connection, spec.name);
  std::printf("table %s: %llu rows, load %.1f s, flush %.1f s, optimize %.1f s\n", spec.name.c_str(),
              static_cast<unsigned long long>(rows), load, flush, optimize);
  std::fflush(stdout);
}

void EnsureTwin(const Options& options, const std::string& original, const TableSpec& twin) {
  Connection connection(options.endpoint);
  const uint64_t rows = CountRows(connection, original);
  if (HasTable(connection, twin.name)) {
    if (CountRows(connection, twin.name) == rows) {
      return;
    }
    connection.Run("DROP TABLE " + twin.name);
  }
  const std::string folder = std::filesystem::absolute(options.folder + "/copies");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  connection.Run("BACKUP TABLES " + original + " TO " + folder);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with(original + ".")) {
      connection.Run("IMPORT TABLE " + twin.name + " FROM '" + entry.path().string() + "'");
      connection.Run("ALTER TABLE " + twin.name + " access_columnar_attrs='" + twin.access + "'");
      break;
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace stoa::bench
