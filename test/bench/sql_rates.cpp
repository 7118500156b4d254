// Rates of a MySQL-protocol server as a client sees them:
//   sql_rates HOST PORT DATABASE insert ROWS_PER_STATEMENT CONNECTIONS SECONDS
//   sql_rates HOST PORT DATABASE point_select CONNECTIONS SECONDS
//   sql_rates HOST PORT DATABASE create [MySQL options of the table]
// Prints one number: rows (or statements) a second. test/bench/foundation.sh compares two servers with it.
#include <mysql.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using std::chrono::steady_clock;

struct Target {
  std::string host;
  unsigned port = 0;
  std::string database;
};

class Connection {
 public:
  explicit Connection(const Target& target) : mysql_(mysql_init(nullptr)) {
    const unsigned tcp = MYSQL_PROTOCOL_TCP;
    mysql_options(mysql_, MYSQL_OPT_PROTOCOL, &tcp);
    if (mysql_real_connect(mysql_, target.host.c_str(), "root", "", target.database.c_str(), target.port,
                           nullptr, 0) == nullptr) {
      Fail("connect");
    }
  }
  ~Connection() { mysql_close(mysql_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Returns the number of rows of the answer.
  uint64_t Query(const std::string& sql) {
    if (mysql_real_query(mysql_, sql.data(), sql.size()) != 0) {
      Fail(sql.substr(0, 80).c_str());
    }
    uint64_t rows = 0;
    if (MYSQL_RES* result = mysql_store_result(mysql_)) {
      rows = mysql_num_rows(result);
      mysql_free_result(result);
    }
    return rows;
  }

 private:
  void Fail(const char* what) {
    std::fprintf(stderr, "%s: %s\n", what, mysql_error(mysql_));
    std::exit(1);
  }

  MYSQL* mysql_;
};

constexpr uint64_t kSelectRows = 100'000;

std::string Row(uint64_t id, std::mt19937_64& random) {
  const uint64_t n = random();
  return "(" + std::to_string(id) + "," + std::to_string(n % 1'000'000) + "," +
         std::to_string(n % 100'000'000'000) + "," + std::to_string(static_cast<double>(n % 100'000) / 100) +
         ",'name " + std::to_string(n % 5000) + "','a text of some words, number " +
         std::to_string(n % 77777) + "')";
}

// Runs `statement(connection, worker, i)` in a loop on each connection; sums what it returns.
template <typename Statement>
double Rate(const Target& target, int connections, double seconds, Statement statement) {
  std::atomic<uint64_t> done{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> workers;
  const auto start = steady_clock::now();
  for (int worker = 0; worker < connections; ++worker) {
    workers.emplace_back([&, worker] {
      Connection connection(target);
      for (uint64_t i = 0; !stop.load(std::memory_order_relaxed); ++i) {
        done += statement(connection, worker, i);
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& worker : workers) {
    worker.join();
  }
  return static_cast<double>(done.load()) /
         std::chrono::duration<double>(steady_clock::now() - start).count();
}

double InsertRate(const Target& target, uint64_t batch, int connections, double seconds) {
  return Rate(target, connections, seconds, [=](Connection& connection, int worker, uint64_t i) {
    thread_local std::mt19937_64 random(static_cast<uint64_t>(worker) + 1);
    std::string sql = "INSERT INTO rates (id, n, b, f, s, t) VALUES ";
    const uint64_t first = (static_cast<uint64_t>(worker) + 1) * 1'000'000'000'000 + i * batch;
    for (uint64_t row = 0; row < batch; ++row) {
      sql += (row == 0 ? "" : ",") + Row(first + row, random);
    }
    connection.Query(sql);
    return batch;
  });
}

double PointSelectRate(const Target& target, int connections, double seconds) {
  Connection loader(target);
  std::mt19937_64 random(7);
  for (uint64_t id = 1; id <= kSelectRows;) {
    std::string sql = "REPLACE INTO rates (id, n, b, f, s, t) VALUES ";
    for (int row = 0; row < 1000; ++row, ++id) {
      sql += (row == 0 ? "" : ",") + Row(id, random);
    }
    loader.Query(sql);
  }
  return Rate(target, connections, seconds, [](Connection& connection, int worker, uint64_t) {
    thread_local std::mt19937_64 ids(static_cast<uint64_t>(worker) + 100);
    const uint64_t id = 1 + ids() % kSelectRows;
    const uint64_t rows =
        connection.Query("SELECT id, n, b, f, s FROM rates WHERE id = " + std::to_string(id));
    if (rows != 1) {
      std::fprintf(stderr, "id %llu: %llu rows\n", static_cast<unsigned long long>(id),
                   static_cast<unsigned long long>(rows));
      std::exit(1);
    }
    return uint64_t{1};
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: see the head of sql_rates.cpp\n");
    return 2;
  }
  const Target target{argv[1], static_cast<unsigned>(std::atoi(argv[2])), argv[3]};
  const std::string what = argv[4];
  mysql_library_init(0, nullptr, nullptr);
  if (what == "create") {
    Connection connection(target);
    connection.Query("DROP TABLE IF EXISTS rates");
    connection.Query(argc > 5 ? argv[5]
                              : "CREATE TABLE rates (n int, b bigint, f float, s string, t text stored)");
    return 0;
  }
  if (what == "insert" && argc == 8) {
    std::printf("%.0f\n", InsertRate(target, std::strtoull(argv[5], nullptr, 10), std::atoi(argv[6]),
                                     std::atof(argv[7])));
    return 0;
  }
  if (what == "point_select" && argc == 7) {
    std::printf("%.0f\n", PointSelectRate(target, std::atoi(argv[5]), std::atof(argv[6])));
    return 0;
  }
  std::fprintf(stderr, "unknown measurement '%s'\n", what.c_str());
  return 2;
}
