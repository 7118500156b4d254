#include "sql/exec/select_options.h"

#include <algorithm>
#include <limits>

#include "sql/sql_error.h"
#include "sql/statements/literal.h"

namespace stoa::sql {
namespace {

enum class OptionKind : uint8_t { kNumber, kText };

struct KnownOption {
  std::string_view name;
  OptionKind kind;
};

constexpr KnownOption kKnownOptions[] = {
    {"accurate_aggregation", OptionKind::kNumber},
    {"agent_query_timeout", OptionKind::kNumber},
    {"boolean_mode", OptionKind::kText},
    {"boolean_simplify", OptionKind::kNumber},
    {"comment", OptionKind::kText},
    {"cutoff", OptionKind::kNumber},
    {"debug_no_payload", OptionKind::kNumber},
    {"distance", OptionKind::kNumber},
    {"distinct_precision_threshold", OptionKind::kNumber},
    {"embeddings_threads", OptionKind::kNumber},
    {"expand_blended", OptionKind::kText},
    {"expand_keywords", OptionKind::kText},
    {"expansion_limit", OptionKind::kNumber},
    {"facet_filter_mode", OptionKind::kText},
    {"field_weights", OptionKind::kText},
    {"force_bigrams", OptionKind::kNumber},
    {"format", OptionKind::kText},
    {"fusion_method", OptionKind::kText},
    {"fusion_weights", OptionKind::kText},
    {"fuzzy", OptionKind::kNumber},
    {"global_idf", OptionKind::kText},
    {"idf", OptionKind::kText},
    {"ignore_nonexistent_columns", OptionKind::kNumber},
    {"ignore_nonexistent_indexes", OptionKind::kNumber},
    {"index_weights", OptionKind::kText},
    {"jieba_mode", OptionKind::kText},
    {"join_batch_size", OptionKind::kNumber},
    {"layouts", OptionKind::kText},
    {"local_df", OptionKind::kNumber},
    {"low_priority", OptionKind::kNumber},
    {"max_matches", OptionKind::kNumber},
    {"max_matches_increase_threshold", OptionKind::kNumber},
    {"max_predicted_time", OptionKind::kNumber},
    {"max_query_time", OptionKind::kNumber},
    {"morphology", OptionKind::kText},
    {"not_terms_only_allowed", OptionKind::kNumber},
    {"preserve", OptionKind::kNumber},
    {"rand_seed", OptionKind::kNumber},
    {"rank_constant", OptionKind::kNumber},
    {"ranker", OptionKind::kText},
    {"retry_count", OptionKind::kNumber},
    {"retry_delay", OptionKind::kNumber},
    {"reverse_scan", OptionKind::kNumber},
    {"scroll", OptionKind::kText},
    {"sort_method", OptionKind::kText},
    {"strict", OptionKind::kNumber},
    {"threads", OptionKind::kNumber},
    {"threads_ex", OptionKind::kText},
    {"token_filter", OptionKind::kText},
    {"window_size", OptionKind::kNumber},
};

std::string OptionText(const ParsedExpr& value) {
  return value.kind == ParsedKind::kFunction ? value.name : LiteralText(value);
}

Result<uint64_t> OptionNumber(const ParsedOption& option) {
  const ParsedExpr& value = *option.value;
  if ((value.kind == ParsedKind::kInteger || value.kind == ParsedKind::kBool) && !value.out_of_range) {
    return value.kind == ParsedKind::kBool ? static_cast<uint64_t>(value.integer) : value.unsigned_integer;
  }
  if (option.name == "rank_constant" || option.name == "window_size") {
    return SyntaxError(
        fmt::format("{} should be an integer, 0 or more: '{}'", option.name, OptionText(value)));
  }
  return SyntaxError(fmt::format("{} value should be a number: '{}'", option.name, OptionText(value)));
}

Status CheckTextOption(const ParsedOption& option) {
  static constexpr std::string_view kRankers[] = {"proximity_bm25", "bm25",     "none",      "wordcount",
                                                  "proximity",      "matchany", "fieldmask", "sph04",
                                                  "expr",           "export"};
  const std::string text = OptionText(*option.value);
  if (option.name == "ranker" &&
      std::find(std::begin(kRankers), std::end(kRankers), text) == std::end(kRankers)) {
    return SyntaxError(fmt::format("unknown ranker '{}'", text));
  }
  if (option.name == "sort_method" && text != "pq" && text != "kbuffer") {
    return SyntaxError(fmt::format("unknown sort_method '{}', known are pq and kbuffer", text));
  }
  if (option.name == "fusion_method" && text != "rrf") {
    return SyntaxError(fmt::format("unknown fusion_method '{}', supported: rrf", text));
  }
  if (option.name == "scroll") {
    return NotSupportedYet("OPTION scroll");
  }
  return Status::Ok();
}

// (x=0.7, y=1).
Status ReadFusionWeights(const ParsedOption& option, FusionOptions& fusion) {
  if (option.value->kind != ParsedKind::kOptionMap) {
    return SyntaxError("fusion_weights are written (alias=0.7, …)");
  }
  for (const ParsedOption& weight : option.value->options) {
    Number number;
    if (!ReadNumberOrText(*weight.value, number) || !(number.AsDouble() >= 0) ||
        number.AsDouble() > std::numeric_limits<float>::max()) {
      return SyntaxError(
          fmt::format("the weight of '{}' in fusion_weights should be a number, 0 or more: '{}'", weight.name,
                      OptionText(*weight.value)));
    }
    const bool is_known = std::any_of(fusion.weights.begin(), fusion.weights.end(),
                                      [&](const auto& known) { return known.first == weight.name; });
    if (is_known) {
      return SyntaxError(fmt::format("'{}' stands twice in fusion_weights", weight.name));
    }
    fusion.weights.emplace_back(weight.name, number.AsDouble());
  }
  return Status::Ok();
}

void UseNumber(std::string_view name, uint64_t number, SelectOptions& options, FusionOptions& fusion) {
  if (name == "max_matches") {
    options.max_matches = number;
  } else if (name == "max_query_time") {
    options.max_query_time_ms = number;
  } else if (name == "cutoff") {
    options.cutoff = number;
  } else if (name == "rand_seed") {
    options.rand_seed = number;
  } else if (name == "rank_constant") {
    fusion.rank_constant = number;
  } else if (name == "window_size") {
    fusion.window_size = number;
  }
}

}  // namespace

Result<SelectOptions> ReadSelectOptions(const std::vector<ParsedOption>& options) {
  SelectOptions result;
  FusionOptions fusion;  // checked in any case, used with fusion_method
  bool fuses = false;
  for (const ParsedOption& option : options) {
    const auto* known = std::find_if(std::begin(kKnownOptions), std::end(kKnownOptions),
                                     [&](const KnownOption& k) { return k.name == option.name; });
    if (known == std::end(kKnownOptions)) {
      return SyntaxError(fmt::format("unknown option '{}'", option.name));
    }
    if (known->kind == OptionKind::kText) {
      RETURN_IF_ERROR(option.name == "fusion_weights" ? ReadFusionWeights(option, fusion)
                                                      : CheckTextOption(option));
      fuses = fuses || option.name == "fusion_method";
      continue;
    }
    ASSIGN_OR_RETURN(const uint64_t number, OptionNumber(option));
    if (option.name == "max_matches" && number < 1) {
      return SyntaxError("max_matches can not be less than one");
    }
    UseNumber(option.name, number, result, fusion);
  }
  if (fuses) {
    result.fusion = std::move(fusion);
  }
  return result;
}

}  // namespace stoa::sql
