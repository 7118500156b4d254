#include "exact_answers.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <unordered_set>

#include "query_load.h"

namespace stoa::bench {

namespace {

std::vector<uint64_t> Ids(const Rows& rows) {
  std::vector<uint64_t> ids;
  for (const auto& row : rows) {
    ids.push_back(std::strtoull(row[0].c_str(), nullptr, 10));
  }
  return ids;
}

std::vector<std::vector<uint64_t>> ReadLists(const std::string& path) {
  std::vector<std::vector<uint64_t>> lists;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream numbers(line);
    auto& list = lists.emplace_back();
    for (uint64_t id = 0; numbers >> id;) {
      list.push_back(id);
    }
  }
  return lists;
}

void WriteLists(const std::string& path, const std::vector<std::vector<uint64_t>>& lists) {
  std::ofstream file(path);
  for (const auto& list : lists) {
    for (const uint64_t id : list) {
      file << id << ' ';
    }
    file << '\n';
  }
}

}  // namespace

ExactAnswers ExactAnswers::Get(const Options& options, const std::string& table, uint64_t rows,
                               const std::vector<std::string>& vectors) {
  const uint64_t most = *std::max_element(options.ks.begin(), options.ks.end());
  const size_t queries = std::min(static_cast<size_t>(options.exact_queries), vectors.size());
  const std::string path = options.folder + "/exact-" + std::to_string(rows) + "-" + options.similarity +
                           "-" + std::to_string(most) + "-" + std::to_string(queries);
  ExactAnswers exact;
  exact.ids_ = ReadLists(path);
  if (exact.ids_.size() == queries) {
    return exact;
  }
  exact.ids_.clear();
  Connection connection(options.endpoint);
  for (size_t i = 0; i < queries; ++i) {
    exact.ids_.push_back(Ids(connection.Run("SELECT id FROM " + table + " WHERE knn(v, " + vectors[i] +
                                            ", {fullscan=1}) LIMIT " + std::to_string(most))));
  }
  WriteLists(path, exact.ids_);
  return exact;
}

double ExactAnswers::Recall(const Options& options, const std::string& table, uint64_t k,
                            const std::vector<std::string>& vectors) const {
  Connection connection(options.endpoint);
  const QueryTexts texts = NearestRows(table, k, vectors);
  size_t wanted = 0;
  size_t right = 0;
  for (size_t i = 0; i < ids_.size(); ++i) {
    const auto end = ids_[i].begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(k, ids_[i].size()));
    const std::unordered_set<uint64_t> nearest(ids_[i].begin(), end);
    wanted += nearest.size();
    for (const uint64_t id : Ids(connection.Run(texts.at(i)))) {
      right += nearest.count(id);
    }
  }
  return wanted == 0 ? 0 : static_cast<double>(right) / static_cast<double>(wanted);
}

}  // namespace stoa::bench
