#include "query_load.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "fvecs.h"

namespace stoa::bench {

namespace {

using std::chrono::steady_clock;

double OwnCpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <typename Duration>
double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

double Quantile(std::vector<float>& values, double share) {
  if (values.empty()) {
    return 0;
  }
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return static_cast<double>(*at);
}

}  // namespace

std::vector<std::string> ReadQueryVectors(const Options& options) {
  const VectorSet vectors = ReadFvecs(options.query_file(), options.query_count);
  std::vector<std::string> texts(vectors.size());
  for (size_t i = 0; i < vectors.size(); ++i) {
    AppendVector(vectors.at(i), vectors.dims, texts[i]);
  }
  return texts;
}

QueryTexts NearestRows(const std::string& table, uint64_t k, const std::vector<std::string>& vectors) {
  return {"SELECT id, knn_dist() FROM " + table + " WHERE knn(v, ", &vectors, ") LIMIT " + std::to_string(k)};
}

void WarmUp(const Options& options, const std::vector<std::string>& tables,
            const std::vector<std::string>& vectors) {
  Connection connection(options.endpoint);
  for (const std::string& table : tables) {
    connection.Count("SELECT id FROM " + table + " WHERE knn(v, " + vectors[0] + ", {fullscan=1}) LIMIT 1");
  }
}

QueryLoad::QueryLoad(const Options& options, int connections) : server_pid_(options.server_pid) {
  for (int i = 0; i < connections; ++i) {
    connections_.push_back(std::make_unique<Connection>(options.endpoint));
  }
}

void QueryLoad::Ask(Connection& connection, const QueryTexts& texts, std::vector<float>& seconds_each) {
  std::string sql;
  while (!stop_.load(std::memory_order_relaxed)) {
    const std::string& middle = (*texts.middles)[next_.fetch_add(1) % texts.middles->size()];
    sql.assign(texts.before).append(middle).append(texts.after);
    const auto start = steady_clock::now();
    connection.Count(sql);
    seconds_each.push_back(static_cast<float>(Seconds(steady_clock::now() - start)));
  }
}

LoadResult QueryLoad::Run(const QueryTexts& texts, double seconds) {
  std::vector<std::vector<float>> latencies(connections_.size());
  std::vector<std::thread> threads;
  stop_ = false;
  const ServerUsage before = ServerUsage::Of(server_pid_);
  const double own_before = OwnCpuSeconds();
  const auto start = steady_clock::now();
  for (size_t i = 0; i < connections_.size(); ++i) {
    threads.emplace_back([&, i] { Ask(*connections_[i], texts, latencies[i]); });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop_ = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  const double elapsed = Seconds(steady_clock::now() - start);
  const ServerUsage used = ServerUsage::Of(server_pid_).Since(before);
  const double own_used = OwnCpuSeconds() - own_before;
  std::vector<float> all;
  for (const auto& part : latencies) {
    all.insert(all.end(), part.begin(), part.end());
  }
  const double count = std::max(1.0, static_cast<double>(all.size()));
  return {.per_second = count / elapsed,
          .p50_ms = 1000 * Quantile(all, 0.5),
          .p99_ms = 1000 * Quantile(all, 0.99),
          .cpu_us = 1e6 * used.cpu_seconds / count,
          .client_cpu_us = 1e6 * own_used / count,
          .major_faults = used.major_faults / count,
          .read_bytes = used.read_bytes / count};
}

LoadResult MedianOf(const std::vector<LoadResult>& rounds) {
  LoadResult median;
  for (double LoadResult::*measure :
       {&LoadResult::per_second, &LoadResult::p50_ms, &LoadResult::p99_ms, &LoadResult::cpu_us,
        &LoadResult::client_cpu_us, &LoadResult::major_faults, &LoadResult::read_bytes}) {
    std::vector<double> values;
    for (const LoadResult& round : rounds) {
      values.push_back(round.*measure);
    }
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    median.*measure = values.empty() ? 0 : values[values.size() / 2];
  }
  return median;
}

}  // namespace stoa::bench
