#include "sql/statements/table_ddl.h"

#include <algorithm>

#include "sql/sql_error.h"
#include "sql/statements/display_order.h"
#include "sql/statements/literal.h"

namespace stoa::sql {
namespace {

using storage::ColumnDefinition;
using storage::ColumnType;
using storage::Engine;

constexpr size_t kMostFields = 256;
constexpr size_t kLongestName = 255;
constexpr uint64_t kMostDims = 65535;
constexpr uint64_t kMostLinks = 2048;
constexpr uint64_t kMostBuildBeam = 65535;

struct TypeName {
  std::string_view name;
  ColumnType type;
};

constexpr TypeName kTypes[] = {
    {"text", ColumnType::kText},
    {"string", ColumnType::kString},
    {"int", ColumnType::kInt},
    {"integer", ColumnType::kInt},
    {"uint", ColumnType::kInt},
    {"bit", ColumnType::kInt},
    {"bigint", ColumnType::kBigint},
    {"bool", ColumnType::kBool},
    {"timestamp", ColumnType::kTimestamp},
    {"float", ColumnType::kFloat},
    {"json", ColumnType::kJson},
    {"multi", ColumnType::kMulti},
    {"mva", ColumnType::kMulti},
    {"multi64", ColumnType::kMulti64},
    {"mva64", ColumnType::kMulti64},
    {"float_vector", ColumnType::kFloatVector},
    {"float_vector_array", ColumnType::kFloatVectorArray},
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

Status SetType(const ParsedColumn& parsed, ColumnDefinition& column) {
  const auto found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const auto& type) { return type.name == parsed.type; });
  if (found == std::end(kTypes)) {
    if (parsed.type == "uuid") {
      return NotSupportedYet("the type uuid");
    }
    return InvalidError("unknown column type '{}'", parsed.type);
  }
  column.type = found->type;
  if (parsed.type == "bit") {
    const uint64_t bits = parsed.type_argument.value_or(1);
    if (bits < 1 || bits > 32) {
      return InvalidError("column '{}': bit({}) must have from 1 to 32 bits", parsed.name, bits);
    }
    column.bits = static_cast<uint8_t>(bits);
  } else if (parsed.type_argument) {
    return InvalidError("unknown column type '{}({})'", parsed.type, *parsed.type_argument);
  }
  return Status::Ok();
}

// text: [indexed] [stored], both when none is given. string: an attribute, with `indexed attribute` a field
// as well; with `indexed` or `stored` alone it is the same as a text.
Status SetFlags(const ParsedColumn& parsed, ColumnDefinition& column) {
  const auto has = [&parsed](std::string_view flag) {
    return std::find(parsed.flags.begin(), parsed.flags.end(), flag) != parsed.flags.end();
  };
  if (parsed.flags.empty()) {
    column.indexed = column.stored = column.type == ColumnType::kText;
    return Status::Ok();
  }
  if (column.type != ColumnType::kText && column.type != ColumnType::kString) {
    return InvalidError("column '{}': '{}' is for text and string columns only", parsed.name,
                        parsed.flags[0]);
  }
  if (has("attribute")) {
    if (has("stored")) {
      return InvalidError("column '{}': attribute and stored cannot be used together", parsed.name);
    }
    column.type = ColumnType::kString;
    column.attribute = true;
    column.indexed = has("indexed");
    return Status::Ok();
  }
  column.type = ColumnType::kText;
  column.indexed = has("indexed");
  column.stored = has("stored");
  return Status::Ok();
}

// Values of a column's options as given; the checks between them come after all were read.
struct ColumnOptions {
  std::string engine;
  std::string fast_fetch;
  std::string hash;
  std::string secondary_index;
  std::string knn_type;
  std::string knn_dims;
  std::string hnsw_similarity;
  std::string hnsw_m;
  std::string hnsw_ef_construction;
  std::string quantization;
  std::string vector_storage;
  std::string model_name;
};

Result<ColumnOptions> ReadOptions(const ParsedColumn& parsed) {
  ColumnOptions options;
  const std::pair<std::string_view, std::string*> known[] = {
      {"engine", &options.engine},
      {"fast_fetch", &options.fast_fetch},
      {"hash", &options.hash},
      {"secondary_index", &options.secondary_index},
      {"knn_type", &options.knn_type},
      {"knn_dims", &options.knn_dims},
      {"hnsw_similarity", &options.hnsw_similarity},
      {"hnsw_m", &options.hnsw_m},
      {"hnsw_ef_construction", &options.hnsw_ef_construction},
      {"quantization", &options.quantization},
      {"vector_storage", &options.vector_storage},
      {"model_name", &options.model_name},
  };
  constexpr std::string_view kModelOptions[] = {"from",        "api_key",    "api_url",
                                                "api_timeout", "cache_path", "use_gpu"};
  for (const ParsedOption& option : parsed.options) {
    ASSIGN_OR_RETURN(std::string value, OptionText(option));
    const auto found = std::find_if(std::begin(known), std::end(known),
                                    [&](const auto& k) { return k.first == option.name; });
    if (found == std::end(known)) {
      if (std::find(std::begin(kModelOptions), std::end(kModelOptions), option.name) !=
          std::end(kModelOptions)) {
        continue;  // belongs to model_name
      }
      return InvalidError("column '{}': unknown option '{}'", parsed.name, option.name);
    }
    if (value.empty()) {
      return InvalidError("column '{}': option '{}' has no value", parsed.name, option.name);
    }
    *found->second = Lower(value);
  }
  return options;
}

Status ReadCount(std::string_view name, const std::string& text, uint64_t most, uint32_t& count) {
  if (text.empty()) {
    return Status::Ok();
  }
  Number number;
  if (!ParseNumber(text, number) || !number.integer || number.negative || number.magnitude < 1 ||
      number.magnitude > most) {
    return InvalidError("{} must be a number from 1 to {}, not '{}'", name, most, text);
  }
  count = static_cast<uint32_t>(number.magnitude);
  return Status::Ok();
}

Status CheckModel(const ColumnOptions& options, ColumnType type) {
  if (options.model_name.empty()) {
    return Status::Ok();
  }
  if (type == ColumnType::kFloatVectorArray) {
    return InvalidError("model_name can't be used with float_vector_array attributes");
  }
  if (!options.knn_dims.empty()) {
    return InvalidError("knn_dims can't be used together with model_name");
  }
  return NotSupportedYet("model_name");
}

// How the vectors themselves are kept: as 32-bit floats.
Status CheckVectorStorage(const std::string& storage) {
  if (storage == "bf16") {
    return NotSupportedYet("vector_storage='bf16'");
  }
  return storage.empty() || storage == "float" ? Status::Ok()
                                               : InvalidError("Unknown vector storage '{}'", storage);
}

Status SetKnn(const ColumnOptions& options, ColumnDefinition& column) {
  const bool any = !options.knn_dims.empty() || !options.hnsw_similarity.empty() || !options.hnsw_m.empty() ||
                   !options.hnsw_ef_construction.empty() || !options.quantization.empty() ||
                   !options.vector_storage.empty();
  if (options.knn_type.empty()) {
    RETURN_IF_ERROR(CheckModel(options, column.type));
    return any ? InvalidError("column '{}': options of a KNN index need knn_type='hnsw'", column.name)
               : Status::Ok();
  }
  if (options.knn_type != "hnsw") {
    return InvalidError("Unknown KNN type '{}'", options.knn_type);
  }
  if (column.type != ColumnType::kFloatVector && column.type != ColumnType::kFloatVectorArray) {
    return InvalidError(
        "knn_type='hnsw' can only be used with float_vector and float_vector_array attributes");
  }
  RETURN_IF_ERROR(CheckModel(options, column.type));
  if (options.knn_dims.empty()) {
    return InvalidError("knn_dims is required if knn_type='hnsw'");
  }
  storage::KnnOptions knn;
  RETURN_IF_ERROR(ReadCount("knn_dims", options.knn_dims, kMostDims, knn.dims));
  RETURN_IF_ERROR(ReadCount("hnsw_m", options.hnsw_m, kMostLinks, knn.hnsw_m));
  RETURN_IF_ERROR(ReadCount("hnsw_ef_construction", options.hnsw_ef_construction, kMostBuildBeam,
                            knn.hnsw_ef_construction));
  if (!options.hnsw_similarity.empty()) {
    knn.similarity = options.hnsw_similarity;
  }
  if (knn.similarity != "l2" && knn.similarity != "ip" && knn.similarity != "cosine") {
    return InvalidError("Unknown knn similarity '{}'", knn.similarity);
  }
  if (!options.quantization.empty()) {
    knn.quantization = options.quantization;
  }
  constexpr std::string_view kQuantizations[] = {"none", "8bit", "4bit", "1bit", "1bitsimple"};
  if (std::find(std::begin(kQuantizations), std::end(kQuantizations), knn.quantization) ==
      std::end(kQuantizations)) {
    return InvalidError("Unknown quantization '{}'", knn.quantization);
  }
  RETURN_IF_ERROR(CheckVectorStorage(options.vector_storage));
  column.knn = knn;
  return Status::Ok();
}

Status ReadSwitch(std::string_view name, const std::string& text, bool& value) {
  if (!text.empty() && text != "0" && text != "1") {
    return InvalidError("'{}' must be 0 or 1, not '{}'", name, text);
  }
  value = text.empty() ? value : text == "1";
  return Status::Ok();
}

std::string JsonStaysRowwise(std::string_view column) {
  return fmt::format("columnar storage does not support json type ('{}' attribute specified as columnar)",
                     column);
}

Status SetEngine(const ColumnOptions& options, const storage::TableDefinition& table,
                 ColumnDefinition& column, std::vector<std::string>& warnings) {
  if (!options.engine.empty()) {
    if (options.engine != "columnar" && options.engine != "rowwise") {
      return InvalidError("column '{}': unknown engine '{}'", column.name, options.engine);
    }
    if (column.type == ColumnType::kText) {
      return InvalidError("column '{}': engine is for attributes, not for text fields", column.name);
    }
    column.engine = options.engine == "columnar" ? Engine::kColumnar : Engine::kRowwise;
  }
  const auto table_engine = table.settings.find("engine");
  const bool table_columnar = table_engine != table.settings.end() && table_engine->second == "columnar";
  const bool wants_columnar = column.engine ? *column.engine == Engine::kColumnar : table_columnar;
  if (column.type == ColumnType::kJson && wants_columnar) {
    column.engine.reset();
    warnings.push_back(JsonStaysRowwise(column.name));
  }
  return Status::Ok();
}

Status SetColumnProperties(const ColumnOptions& options, const storage::TableDefinition& table,
                           ColumnDefinition& column) {
  const bool columnar = table.IsColumnar(column);
  if (!options.fast_fetch.empty() && !columnar) {
    return InvalidError("column '{}': 'fast_fetch' is applicable to columnar columns only", column.name);
  }
  if (!options.hash.empty() && (!columnar || column.type != ColumnType::kString)) {
    return InvalidError("'hash' is applicable to columnar strings only");
  }
  if (!options.secondary_index.empty() && column.type != ColumnType::kJson) {
    return InvalidError("column '{}': 'secondary_index' is applicable to json only", column.name);
  }
  RETURN_IF_ERROR(ReadSwitch("fast_fetch", options.fast_fetch, column.fast_fetch));
  RETURN_IF_ERROR(ReadSwitch("hash", options.hash, column.hash));
  return ReadSwitch("secondary_index", options.secondary_index, column.secondary_index);
}

Status CheckName(std::string_view kind, std::string_view name) {
  if (name.empty()) {
    return InvalidError("the name of a {} is empty", kind);
  }
  if (name.size() > kLongestName) {
    return InvalidError("the name of a {} has {} bytes, most are {}", kind, name.size(), kLongestName);
  }
  const bool control =
      std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  return control ? InvalidError("the name of a {} has a control character", kind) : Status::Ok();
}

}  // namespace

ColumnDefinition MakeIdColumn() {
  ColumnDefinition id;
  id.name = "id";
  id.type = ColumnType::kId;
  return id;
}

Result<ColumnDefinition> MakeColumn(const ParsedColumn& parsed, const storage::TableDefinition& table,
                                    std::vector<std::string>& warnings) {
  RETURN_IF_ERROR(CheckColumnName(parsed.name));
  ColumnDefinition column;
  column.name = parsed.name;
  RETURN_IF_ERROR(SetType(parsed, column));
  RETURN_IF_ERROR(SetFlags(parsed, column));
  ASSIGN_OR_RETURN(const ColumnOptions options, ReadOptions(parsed));
  RETURN_IF_ERROR(SetKnn(options, column));
  RETURN_IF_ERROR(SetEngine(options, table, column, warnings));
  RETURN_IF_ERROR(SetColumnProperties(options, table, column));
  return column;
}

Status AddColumn(ColumnDefinition column, storage::TableDefinition& table) {
  if (table.Find(column.name) != nullptr) {
    return InvalidError("duplicate attribute name '{}'", column.name);
  }
  const auto fields = static_cast<size_t>(std::count_if(table.columns.begin(), table.columns.end(),
                                                        [](const auto& other) { return other.is_field(); }));
  if (column.is_field() && fields >= kMostFields) {
    return InvalidError("too many full-text fields: {}, most are {}", fields + 1, kMostFields);
  }
  InsertInDisplayOrder(std::move(column), table.columns);
  return Status::Ok();
}

Status CheckTableName(std::string_view name) {
  RETURN_IF_ERROR(CheckName("table", name));
  if (name.find_first_of("/\\") != std::string_view::npos || name[0] == '.') {
    return InvalidError("the name of a table has no slashes and does not begin with a dot, not '{}'", name);
  }
  return Status::Ok();
}

Status CheckColumnName(std::string_view name) { return CheckName("column", name); }

}  // namespace stoa::sql
