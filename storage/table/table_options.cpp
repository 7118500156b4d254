#include "storage/table/table_options.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <thread>

namespace stoa::storage {
namespace {

std::optional<std::string_view> Setting(const TableDefinition& definition, const char* name) {
  const auto setting = definition.settings.find(name);
  return setting == definition.settings.end() ? std::nullopt
                                              : std::optional<std::string_view>(setting->second);
}

std::optional<int64_t> NumberSetting(const TableDefinition& definition, const char* name) {
  const auto text = Setting(definition, name);
  if (!text.has_value()) {
    return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  return error == std::errc() && end == text->data() + text->size() ? std::optional(value) : std::nullopt;
}

}  // namespace

AccessMode AccessModeOf(const TableDefinition& definition, const StorageOptions& options) {
  const auto mode = Setting(definition, "access_columnar_attrs");
  if (mode == "mmap") {
    return AccessMode::kMmap;
  }
  return mode == "file" ? AccessMode::kFile : options.access_columnar_attrs;
}

uint64_t MemLimitOf(const TableDefinition& definition, const StorageOptions& options) {
  const auto limit = NumberSetting(definition, "rt_mem_limit");
  return limit.has_value() && *limit > 0 ? static_cast<uint64_t>(*limit) : options.rt_mem_limit;
}

MergeSettings MergeSettingsOf(const StorageOptions& options) {
  const uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
  MergeSettings settings;
  settings.auto_optimize = options.auto_optimize;
  settings.cutoff = options.optimize_cutoff > 0 ? options.optimize_cutoff : 2 * processors;
  settings.parallel =
      options.parallel_chunk_merges > 0 ? options.parallel_chunk_merges : std::max(1u, processors / 2);
  settings.chunks_per_job = std::max(2u, options.merge_chunks_per_job);
  settings.knn_parallel_build = options.knn_parallel_build > 0 ? options.knn_parallel_build : processors;
  return settings;
}

uint32_t CutoffOf(const TableDefinition& definition, const MergeSettings& settings) {
  if (const auto cutoff = NumberSetting(definition, "optimize_cutoff"); cutoff.has_value() && *cutoff > 0) {
    return static_cast<uint32_t>(std::min<int64_t>(*cutoff, UINT32_MAX));
  }
  return settings.cutoff;
}

DocstoreOptions DocstoreOptionsOf(const TableDefinition& definition) {
  DocstoreOptions options;
  if (const auto size = NumberSetting(definition, "docstore_block_size"); size.has_value() && *size > 0) {
    options.block_size = static_cast<uint32_t>(std::min<int64_t>(*size, 1 << 30));
  }
  const auto codec = Setting(definition, "docstore_compression");
  if (codec == "none") {
    options.codec = DocstoreOptions::Codec::kNone;
  } else if (codec == "lz4hc") {
    options.codec = DocstoreOptions::Codec::kLz4hc;
  } else if (codec == "zstd") {
    options.codec = DocstoreOptions::Codec::kZstd;
  }
  if (const auto level = NumberSetting(definition, "docstore_compression_level"); level.has_value()) {
    options.level = static_cast<int>(std::clamp<int64_t>(*level, 1, 19));
  }
  return options;
}

IdleFlush IdleFlushOf(const TableDefinition& definition) {
  IdleFlush idle;
  idle.without_write =
      NumberSetting(definition, "diskchunk_flush_write_timeout").value_or(idle.without_write);
  idle.since_search = NumberSetting(definition, "diskchunk_flush_search_timeout").value_or(idle.since_search);
  return idle;
}

bool OptedOutOfLog(const TableDefinition& definition) { return Setting(definition, "binlog") == "0"; }

}  // namespace stoa::storage
