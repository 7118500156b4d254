#include <algorithm>

#include "sql/parser/keywords.h"
#include "sql/statements/display_order.h"
#include "sql/statements/statements.h"
#include "sql/statements/table_settings.h"

namespace stoa::sql {
namespace {

using storage::ColumnDefinition;
using storage::ColumnType;

std::string QuotedName(std::string_view name, bool always) {
  if (!always && IsPlainName(name)) {
    return std::string(name);
  }
  std::string quoted = "`";
  for (const char c : name) {
    quoted.append(c == '`' ? 2 : 1, c);
  }
  quoted.push_back('`');
  return quoted;
}

void AppendOption(std::string_view name, std::string_view value, std::string& out) {
  out.append(" ").append(name).append("='");
  for (const char c : value) {
    if (c == '\'' || c == '\\') {
      out.push_back('\\');
    }
    out.push_back(c);
  }
  out.push_back('\'');
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return upper;
}

void AppendKnn(const storage::KnnOptions& knn, std::string& out) {
  const storage::KnnOptions defaults;
  AppendOption("knn_type", "hnsw", out);
  AppendOption("knn_dims", std::to_string(knn.dims), out);
  AppendOption("hnsw_similarity", Upper(knn.similarity), out);
  if (knn.hnsw_m != defaults.hnsw_m) {
    AppendOption("hnsw_m", std::to_string(knn.hnsw_m), out);
  }
  if (knn.hnsw_ef_construction != defaults.hnsw_ef_construction) {
    AppendOption("hnsw_ef_construction", std::to_string(knn.hnsw_ef_construction), out);
  }
  if (knn.quantization != defaults.quantization) {
    AppendOption("quantization", knn.quantization, out);
  }
}

void AppendColumn(const ColumnDefinition& column, bool quote_names, std::string& out) {
  out.append(QuotedName(column.name, quote_names)).append(" ").append(storage::CreateType(column));
  if (column.type == ColumnType::kText && column.indexed != column.stored) {
    out.append(column.indexed ? " indexed" : " stored");
  }
  if (column.type == ColumnType::kString && column.indexed) {
    out.append(" indexed attribute");
  }
  if (column.engine) {
    AppendOption("engine", *column.engine == storage::Engine::kColumnar ? "columnar" : "rowwise", out);
  }
  if (!column.fast_fetch) {
    AppendOption("fast_fetch", "0", out);
  }
  if (!column.hash) {
    AppendOption("hash", "0", out);
  }
  if (column.secondary_index) {
    AppendOption("secondary_index", "1", out);
  }
  if (column.knn) {
    AppendKnn(*column.knn, out);
  }
}

void AppendSettings(const storage::TableDefinition& definition, std::string& out) {
  for (const std::string& name : definition.setting_order) {
    const auto setting = definition.settings.find(name);
    if (setting == definition.settings.end()) {
      continue;
    }
    if (!IsRepeatedSetting(name)) {
      AppendOption(name, setting->second, out);
      continue;
    }
    for (const std::string& value : SettingValues(setting->second)) {
      AppendOption(name, value, out);
    }
  }
}

}  // namespace

std::string ShowCreateTable(const storage::TableDefinition& definition, bool quote_names) {
  std::string text = "CREATE TABLE " + QuotedName(definition.name, quote_names);
  if (definition.kind == storage::TableKind::kDistributed) {
    AppendOption("type", "distributed", text);
    for (const std::string& local : definition.local_tables) {
      AppendOption("local", local, text);
    }
    AppendSettings(definition, text);
    return text;
  }
  text.append(" (\n");
  for (const ColumnDefinition* column : DisplayOrder(definition)) {
    text.append(column->type == ColumnType::kId ? "" : ",\n");
    AppendColumn(*column, quote_names, text);
  }
  text.append("\n)");
  if (definition.kind == storage::TableKind::kPercolate) {
    AppendOption("type", "pq", text);
  }
  AppendSettings(definition, text);
  return text;
}

}  // namespace stoa::sql
