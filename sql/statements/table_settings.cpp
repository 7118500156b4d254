#include "sql/statements/table_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "sql/sql_error.h"
#include "sql/statements/literal.h"

namespace stoa::sql {
namespace {

enum class SettingKind : uint8_t {
  kText,
  kInteger,   // from minimum to maximum
  kFraction,  // 0 … 1
  kSize,      // bytes with an optional suffix k, m, g, t; minimum and maximum in bytes
  kTime,      // seconds with an optional suffix us, ms, s, m, h, d, w; kept as written
  kSwitch,    // 0 or 1
  kChoice,    // one of `choices`, divided by |
  kStemmers,
  kBlendModes,
  kIgnored,  // did something once
};

struct TableSetting {
  std::string_view name;
  SettingKind kind = SettingKind::kText;
  int64_t minimum = 0;
  int64_t maximum = 0;
  std::string_view choices = {};
  bool repeated = false;
};

constexpr int64_t kMany = std::numeric_limits<int32_t>::max();
constexpr int64_t kHuge = int64_t{1} << 50;
constexpr std::string_view kMapped = "mmap|mmap_preread|mlock";
constexpr std::string_view kLists = "file|mmap|mlock";

using enum SettingKind;

constexpr TableSetting kSettings[] = {
    // storage
    {"engine", kChoice, 0, 0, "rowwise|columnar"},
    {"rt_mem_limit", kSize, 128 << 10, kHuge},
    {"optimize_cutoff", kInteger, 1, kMany},
    {"diskchunk_flush_search_timeout", kTime},
    {"diskchunk_flush_write_timeout", kTime},
    {"binlog", kSwitch},
    {"preopen", kSwitch},
    {"access_plain_attrs", kChoice, 0, 0, kMapped},
    {"access_blob_attrs", kChoice, 0, 0, kMapped},
    {"access_dict", kChoice, 0, 0, kMapped},
    {"access_doclists", kChoice, 0, 0, kLists},
    {"access_hitlists", kChoice, 0, 0, kLists},
    {"access_columnar_attrs", kChoice, 0, 0, "file|mmap"},
    {"access_secondary", kChoice, 0, 0, "file|mmap"},
    {"attr_update_reserve", kSize, 0, kHuge},
    {"docstore_block_size", kSize, 1, 1 << 30},
    {"docstore_compression", kChoice, 0, 0, "lz4|lz4hc|none"},
    {"docstore_compression_level", kInteger, 1, 12},
    {"read_buffer_docs", kSize, 8 << 10, kHuge},
    {"read_buffer_hits", kSize, 8 << 10, kHuge},
    {"inplace_enable", kSwitch},
    {"inplace_hit_gap", kSize, 0, kHuge},
    {"inplace_docinfo_gap", kSize, 0, kHuge},
    {"inplace_reloc_factor", kFraction},
    {"inplace_write_factor", kFraction},
    {"columnar_compression_uint32", kIgnored},
    {"columnar_compression_int64", kIgnored},
    {"columnar_subblock", kIgnored},
    // relevance
    {"ranker"},
    {"boolean_mode", kChoice, 0, 0, "and|or"},
    // text
    {"charset_table"},
    {"ignore_chars"},
    {"blend_chars"},
    {"blend_mode", kBlendModes},
    {"min_word_len", kInteger, 1, kMany},
    {"overshort_step", kInteger, 0, 1},
    {"ngram_len", kInteger, 0, 1},
    {"ngram_chars"},
    {"morphology", kStemmers},
    {"morphology_skip_fields"},
    {"min_stemming_len", kInteger, 1, kMany},
    {"index_exact_words", kSwitch},
    {"jieba_hmm", kSwitch},
    {"jieba_mode", kChoice, 0, 0, "accurate|full|search"},
    {"jieba_user_dict_path"},
    {"stopwords"},
    {"stopwords_list"},
    {"stopword_step", kInteger, 0, 1},
    {"stopwords_unstemmed", kSwitch},
    {"wordforms", kText, 0, 0, {}, true},
    {"wordforms_list"},
    {"exceptions"},
    {"exceptions_list"},
    {"regexp_filter", kText, 0, 0, {}, true},
    {"html_strip", kSwitch},
    {"html_index_attrs"},
    {"html_remove_elements"},
    {"index_sp", kSwitch},
    {"index_zones"},
    {"min_prefix_len", kInteger, 0, 42},
    {"min_infix_len", kInteger, 0, 42},
    {"prefix_fields"},
    {"infix_fields"},
    {"max_substring_len", kInteger, 0, 42},
    {"dict", kChoice, 0, 0, "keywords|keywords_32k|crc"},
    {"expand_keywords", kChoice, 0, 0, "0|1|exact|star"},
    {"bigram_index", kChoice, 0, 0, "none|all|first_freq|both_freq|second_numeric|second_has_digit"},
    {"bigram_freq_words"},
    {"bigram_delimiter", kChoice, 0, 0, "true|none|both"},
    {"phrase_boundary"},
    {"phrase_boundary_step", kInteger, 0, kMany},
    {"index_field_lengths", kSwitch},
    {"global_idf"},
    {"hitless_words"},
    {"hitless_words_list"},
    {"index_token_filter"},
};

// Known from config files, or what other kinds of tables have; never part of CREATE TABLE.
constexpr std::string_view kNotAllowed[] = {"path",
                                            "stored_fields",
                                            "stored_only_fields",
                                            "columnar_attrs",
                                            "columnar_no_fast_fetch",
                                            "rowwise_attrs",
                                            "rt_field",
                                            "embedded_limit",
                                            "knn",
                                            "json_secondary_indexes",
                                            "source",
                                            "killlist_target",
                                            "engine_default",
                                            "columnar_strings_no_hash"};

constexpr std::string_view kLibstemmer =
    "arabic|armenian|basque|catalan|danish|de|dutch|en|english|es|finnish|fr|french|german|greek|hindi|"
    "hungarian|"
    "indonesian|irish|it|italian|lithuanian|nepali|nl|norwegian|porter|portuguese|pt|romanian|ru|russian|"
    "serbian|"
    "spanish|swedish|tamil|turkish|yiddish";
constexpr std::string_view kStemmerNames =
    "none|stem_en|stem_ru|stem_enru|stem_cz|stem_ar|lemmatize_en|lemmatize_ru|lemmatize_de|lemmatize_uk|"
    "lemmatize_en_all|lemmatize_ru_all|lemmatize_de_all|lemmatize_uk_all|soundex|metaphone|icu_chinese|jieba_"
    "chinese";
constexpr std::string_view kBlendModeNames = "trim_none|trim_head|trim_tail|trim_both|trim_all|skip_pure";

const TableSetting* FindTableSetting(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kSettings), std::end(kSettings), [&](const auto& s) { return s.name == name; });
  return found == std::end(kSettings) ? nullptr : &*found;
}

bool IsChoice(std::string_view choices, std::string_view value) {
  while (!choices.empty()) {
    const size_t end = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, end) == value) {
      return true;
    }
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  return false;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

// Integer at the start of `text`; what follows it is left in `rest`.
bool SplitInteger(std::string_view text, int64_t& value, std::string_view& rest) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  rest = text.substr(static_cast<size_t>(end - text.data()));
  return error == std::errc();
}

Status BadValue(const TableSetting& setting, std::string_view value, std::string_view wanted) {
  return InvalidError("setting {}='{}': {}", setting.name, value, wanted);
}

Result<std::string> NormalInteger(const TableSetting& setting, std::string_view value) {
  int64_t number = 0;
  std::string_view rest;
  if (!SplitInteger(value, number, rest) || !rest.empty() || number < setting.minimum ||
      number > setting.maximum) {
    return BadValue(setting, value,
                    fmt::format("must be a number from {} to {}", setting.minimum, setting.maximum));
  }
  return std::to_string(number);
}

Result<std::string> NormalSize(const TableSetting& setting, std::string_view value) {
  int64_t number = 0;
  std::string_view suffix;
  bool good = SplitInteger(value, number, suffix) && number >= 0 && number <= setting.maximum;
  if (good && !suffix.empty()) {
    const size_t power = std::string_view("kmgt").find(Lower(suffix));
    good = suffix.size() == 1 && power != std::string_view::npos &&
           number <= setting.maximum >> (10 * (power + 1));
    if (good) {
      number <<= 10 * (power + 1);
    }
  }
  if (!good || number < setting.minimum) {
    return BadValue(setting, value,
                    fmt::format("must be a size such as 65536, 64k or 16M, at least {} and at most {}",
                                setting.minimum, setting.maximum));
  }
  return std::to_string(number);
}

Result<std::string> NormalTime(const TableSetting& setting, std::string_view value) {
  int64_t number = 0;
  std::string_view suffix;
  if (!SplitInteger(value, number, suffix) || number < -1 || number > kMany ||
      (!suffix.empty() && !IsChoice("us|ms|s|m|h|d|w", Lower(suffix)))) {
    return BadValue(setting, value, "must be a time such as 30, 30s or 5m");
  }
  return Lower(value);
}

Result<std::string> NormalFraction(const TableSetting& setting, std::string_view value) {
  Number number;
  if (!ParseNumber(value, number) || number.AsDouble() < 0 || number.AsDouble() > 1) {
    return BadValue(setting, value, "must be a number from 0 to 1");
  }
  return std::string(value);
}

std::vector<std::string> SplitList(std::string_view value) {
  std::vector<std::string> items;
  while (!value.empty()) {
    const size_t end = std::min(value.find_first_of(",;"), value.size());
    std::string_view item = value.substr(0, end);
    value.remove_prefix(std::min(end + 1, value.size()));
    const size_t begin = item.find_first_not_of(" \t");
    if (begin != std::string_view::npos) {
      items.push_back(Lower(item.substr(begin, item.find_last_not_of(" \t") - begin + 1)));
    }
  }
  return items;
}

Result<std::string> NormalStemmers(std::string_view value) {
  constexpr std::string_view kPrefix = "libstemmer_";
  std::string normal;
  for (const std::string& name : SplitList(value)) {
    const bool known = name.starts_with(kPrefix)
                           ? IsChoice(kLibstemmer, std::string_view(name).substr(kPrefix.size()))
                           : IsChoice(kStemmerNames, name);
    if (!known) {
      return InvalidError("unknown stemmer {}", name);
    }
    normal.append(normal.empty() ? "" : ", ").append(name);
  }
  return normal;
}

Result<std::string> NormalBlendModes(const TableSetting& setting, std::string_view value) {
  std::string normal;
  for (const std::string& name : SplitList(value)) {
    if (!IsChoice(kBlendModeNames, name)) {
      return BadValue(setting, name, fmt::format("must be one of {}", kBlendModeNames));
    }
    normal.append(normal.empty() ? "" : ", ").append(name);
  }
  return normal;
}

Result<std::string> NormalValue(const TableSetting& setting, std::string_view value) {
  switch (setting.kind) {
    case kText:
    case kIgnored:
      return std::string(value);
    case kInteger:
      return NormalInteger(setting, value);
    case kFraction:
      return NormalFraction(setting, value);
    case kSize:
      return NormalSize(setting, value);
    case kTime:
      return NormalTime(setting, value);
    case kSwitch:
      if (value != "0" && value != "1") {
        return BadValue(setting, value, "must be 0 or 1");
      }
      return std::string(value);
    case kChoice:
      if (!IsChoice(setting.choices, Lower(value))) {
        return BadValue(setting, value, fmt::format("must be one of {}", setting.choices));
      }
      return Lower(value);
    case kStemmers:
      return NormalStemmers(value);
    case kBlendModes:
      return NormalBlendModes(setting, value);
  }
  return std::string(value);
}

void Store(std::string_view name, std::string value, bool repeated, storage::TableDefinition& definition) {
  const auto [place, added] = definition.settings.try_emplace(std::string(name));
  if (added) {
    definition.setting_order.emplace_back(name);
  }
  if (repeated && !added) {
    place->second.append("\n").append(value);
  } else {
    place->second = std::move(value);
  }
}

}  // namespace

Status ApplyTableSetting(std::string_view name, std::string_view value, storage::TableDefinition& definition,
                         std::vector<std::string>& warnings) {
  const bool not_allowed =
      std::find(std::begin(kNotAllowed), std::end(kNotAllowed), name) != std::end(kNotAllowed) ||
      name.starts_with("rt_attr_");
  if (not_allowed) {
    return InvalidError("setting not allowed: {}='{}'", name, value);
  }
  const TableSetting* setting = FindTableSetting(name);
  if (setting == nullptr) {
    return InvalidError("unknown setting '{}'", name);
  }
  if (setting->kind == kIgnored) {
    warnings.push_back(fmt::format("setting '{}' is not used any more, ignored", name));
    return Status::Ok();
  }
  ASSIGN_OR_RETURN(std::string normal, NormalValue(*setting, value));
  Store(name, std::move(normal), setting->repeated, definition);
  return Status::Ok();
}

void ApplyRelevanceProfile(storage::TableDefinition& definition) {
  constexpr std::pair<std::string_view, std::string_view> kProfile[] = {
      {"min_infix_len", "2"},     {"index_field_lengths", "1"},
      {"index_exact_words", "1"}, {"ranker", "expr('1000*bm25a(1.2,0.75,256)')"},
      {"morphology", "stem_en"},  {"boolean_mode", "or"}};
  for (const auto& [name, value] : kProfile) {
    if (!definition.settings.contains(std::string(name))) {
      Store(name, std::string(value), false, definition);
    }
  }
}

Status ApplyTableSettings(const std::vector<ParsedOption>& options, storage::TableDefinition& definition,
                          std::vector<std::string>& warnings) {
  // What a statement says of a repeated setting replaces what was there before.
  for (const ParsedOption& option : options) {
    if (IsRepeatedSetting(option.name) && definition.settings.erase(option.name) > 0) {
      std::erase(definition.setting_order, option.name);
    }
  }
  bool relevance = false;
  for (const ParsedOption& option : options) {
    ASSIGN_OR_RETURN(const std::string value, OptionText(option));
    if (option.name == "profile") {
      if (Lower(value) != "relevance") {
        return InvalidError("setting profile='{}': must be one of relevance", value);
      }
      relevance = true;
      continue;
    }
    RETURN_IF_ERROR(ApplyTableSetting(option.name, value, definition, warnings));
  }
  if (relevance) {
    ApplyRelevanceProfile(definition);
  }
  if (definition.settings.contains("min_infix_len") && definition.settings.contains("min_prefix_len") &&
      definition.settings["min_infix_len"] != "0" && definition.settings["min_prefix_len"] != "0") {
    return InvalidError("min_infix_len and min_prefix_len cannot both be set; infixes cover prefixes");
  }
  return Status::Ok();
}

std::vector<std::string> SettingValues(std::string_view joined) {
  std::vector<std::string> values;
  while (true) {
    const size_t end = joined.find('\n');
    values.emplace_back(joined.substr(0, end));
    if (end == std::string_view::npos) {
      return values;
    }
    joined.remove_prefix(end + 1);
  }
}

bool IsRepeatedSetting(std::string_view name) {
  const TableSetting* setting = FindTableSetting(name);
  return setting != nullptr && setting->repeated;
}

}  // namespace stoa::sql
