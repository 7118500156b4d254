// knn_sql_bench PART --port PORT --pid PID --folder FOLDER [options]: vector search through SQL against a
// running server, as its clients see it. Prints markdown tables. sql_bench.sh starts the server.
#include <mysql.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "embedding_like.h"
#include "fvecs.h"
#include "sql_parts.h"

namespace stoa::bench {

namespace {

// Rows of the distribution that the queries are, far behind those of the tables.
constexpr uint64_t kFirstQueryRow = uint64_t{1} << 40U;

void Generate(const Options& options) {
  EmbeddingLikeOptions source{.dims = options.dims};
  if (CountFvecs(options.base_file()) < options.rows) {
    WriteEmbeddingLike(options.base_file(), options.rows, source);
  }
  if (CountFvecs(options.query_file()) < options.query_count) {
    source.first_row = kFirstQueryRow;
    WriteEmbeddingLike(options.query_file(), options.query_count, source);
  }
}

int Main(int argc, char** argv) {
  const std::map<std::string, void (*)(const Options&)> parts = {
      {"tables", MakeTables}, {"three_way", RunThreeWay}, {"fresh_rows", RunFreshRows},
      {"merge", RunMerge},    {"overhead", RunOverhead},  {"cold", RunCold}};
  Options options;
  std::string part;
  CLI::App app("vector search through SQL");
  app.add_option("part", part, "tables, three_way, fresh_rows, merge, overhead, cold")->required();
  app.add_option("--host", options.endpoint.host);
  app.add_option("--port", options.endpoint.port)->required();
  app.add_option("--pid", options.server_pid, "of the server")->required();
  app.add_option("--folder", options.folder, "of vectors and exact answers");
  app.add_option("--rows", options.rows);
  app.add_option("--dims", options.dims);
  app.add_option("--queries", options.query_count, "distinct queries");
  app.add_option("--quantization", options.quantization);
  app.add_option("--similarity", options.similarity);
  app.add_option("--k", options.ks)->delimiter(',');
  app.add_option("--tables", options.tables, "of three_way")->delimiter(',');
  app.add_option("--connections", options.connections)->delimiter(',');
  app.add_option("--seconds", options.seconds, "of one round");
  app.add_option("--rounds", options.rounds);
  app.add_option("--exact-queries", options.exact_queries, "queries whose recall is measured");
  CLI11_PARSE(app, argc, argv);
  const auto found = parts.find(part);
  if (found == parts.end()) {
    std::fprintf(stderr, "unknown part '%s'\n", part.c_str());
    return 2;
  }
  mysql_library_init(0, nullptr, nullptr);
  Generate(options);
  found->second(options);
  return 0;
}

}  // namespace

void MakeTables(const Options& options) {
  MakeThreeWayTables(options);
  MakeFreshRowsTables(options);
  MakeMergeTables(options);
}

}  // namespace stoa::bench

int main(int argc, char** argv) { return stoa::bench::Main(argc, argv); }
