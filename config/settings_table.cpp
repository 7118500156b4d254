#include <array>

#include "config/settings.h"

// The table of settings, and nothing else: one row a setting, in the order in which documents list them.

namespace stoa::config {

namespace {

constexpr int64_t kKilo = 1024;
constexpr int64_t kMega = kKilo * 1024;
constexpr int64_t kGiga = kMega * 1024;
constexpr int64_t kMillisecond = 1000;
constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kWeek = 7 * 24 * 3600 * kSecond;
constexpr int64_t kMany = 2'147'483'647;

struct Range {
  int64_t minimum;
  int64_t maximum;
};
constexpr Range kAnyCount{0, kMany};
constexpr Range kAnySize{0, 1024 * kGiga};
constexpr Range kAnyTime{0, 52 * kWeek};

using Name = std::string_view;

constexpr Setting Text(Name name, Name value, Name text) {
  return {
      .section = "searchd", .name = name, .type = SettingType::kText, .default_value = value, .text = text};
}
constexpr Setting Path(Name name, Name value, Name text) {
  return {
      .section = "searchd", .name = name, .type = SettingType::kPath, .default_value = value, .text = text};
}
constexpr Setting List(Name name, Name text) {
  return {.section = "searchd", .name = name, .type = SettingType::kList, .text = text};
}
constexpr Setting Bool(Name name, Name value, Name text) {
  return {.section = "searchd",
          .name = name,
          .type = SettingType::kBool,
          .default_value = value,
          .maximum = 1,
          .text = text};
}
constexpr Setting Choice(Name name, Name value, Name choices, Name text) {
  return {.section = "searchd",
          .name = name,
          .type = SettingType::kChoice,
          .default_value = value,
          .choices = choices,
          .text = text};
}
constexpr Setting Ranged(SettingType type, Name name, Name value, Range range, Name text) {
  return {.section = "searchd",
          .name = name,
          .type = type,
          .default_value = value,
          .minimum = range.minimum,
          .maximum = range.maximum,
          .text = text};
}
constexpr Setting Integer(Name name, Name value, Range range, Name text) {
  return Ranged(SettingType::kInteger, name, value, range, text);
}
constexpr Setting Size(Name name, Name value, Range range, Name text) {
  return Ranged(SettingType::kSize, name, value, range, text);
}
constexpr Setting Seconds(Name name, Name value, Range range, Name text) {
  Setting row = Ranged(SettingType::kTime, name, value, range, text);
  row.unit = kSecond;
  return row;
}
constexpr Setting Millis(Name name, Name value, Range range, Name text) {
  Setting row = Ranged(SettingType::kTime, name, value, range, text);
  row.unit = kMillisecond;
  return row;
}

constexpr Setting Common(Setting row) {
  row.section = "common";
  return row;
}
// SET GLOBAL changes it while the server runs.
constexpr Setting Live(Setting row) {
  row.needs_restart = false;
  return row;
}
// Not in the file, only by SET GLOBAL.
constexpr Setting OnlyLive(Setting row) {
  row.section = "session";
  return Live(row);
}
constexpr Setting Later(Setting row) {
  row.no_effect_yet = true;
  return row;
}
constexpr Setting Removed(Name name) {
  return {.section = "searchd",
          .name = name,
          .type = SettingType::kText,
          .deprecated = true,
          .text = "Removed; ignored."};
}

constexpr Name kMapModes = "mmap|mmap_preread|mlock";
constexpr Name kFileModes = "file|mmap|mlock";
constexpr Name kColumnModes = "mmap|file";
constexpr Name kLogLevels = "error|warning|info|debug|debugv|debugvv";

constexpr std::array kSettings = {
    // Where the server listens and where its files are.
    List("listen",
         "Address to listen on: [address:]port or /unix/path, then :mysql or :http, then _vip or _readonly. "
         "May repeat. "
         "Default 127.0.0.1:9306:mysql and 127.0.0.1:9308:http."),
    Path("data_dir", "", "Folder of the tables. Default: data, beside the config file."),
    Path("log", "", "Server log: a file, /dev/stdout or syslog. Default: searchd.log in data_dir."),
    Path("pid_file", "", "File that holds the process id. Default: searchd.pid in data_dir."),
    Path("query_log", "", "Query log: a file or syslog. Unset: no query log."),
    Live(Choice("query_log_format", "sphinxql", "sphinxql|plain",
                "sphinxql: every line is SQL that can be run again; plain: one line of text a query.")),
    Live(
        Millis("query_log_min_msec", "0", kAnyTime, "Only queries that took at least this long are logged.")),
    Integer("query_log_mode", "600", {0, 777}, "Permissions of the query log file, octal."),
    Text("query_log_commands", "",
         "Statements to log beside select and update, comma separated: insert, replace, delete, or all."),
    OnlyLive(Choice("log_level", "info", kLogLevels, "How much the server log tells.")),
    OnlyLive(Later(Text("log_debug_filter", "", "Prefix of the debug lines to log."))),
    OnlyLive(Later(Text("log_http_filter", "", "Prefix of the HTTP requests to log."))),
    Later(Path("log_http", "", "File to which every HTTP request and answer is written.")),

    // Threads, connections, limits.
    Integer("threads", "", {1, 4096}, "Threads that run statements. Default: one a logical CPU."),
    Live(Later(Integer("max_threads_per_query", "0", {0, 4096}, "Threads of one query; 0: all."))),
    Integer("net_workers", "1", {1, 64}, "Threads that move bytes between sockets and sessions."),
    Later(Integer("jobs_queue_size", "0", kAnyCount, "Statements that may wait for a thread; 0: no limit.")),
    Live(Later(Size("thread_stack", "1m", {64 * kKilo, 8 * kGiga}, "Stack of a statement."))),
    Integer("max_connections", "0", kAnyCount,
            "Connections at a time; one more gets error 1040. 0: no limit."),
    Seconds("client_timeout", "5m", kAnyTime, "Time between two requests of a kept-open HTTP connection."),
    Live(Seconds("network_timeout", "5s", kAnyTime,
                 "Time for the rest of a packet or a handshake to arrive.")),
    Seconds("sphinxql_timeout", "15m", kAnyTime,
            "Idle time of a MySQL session; given, it sets wait_timeout too."),
    Live(Seconds("interactive_timeout", "900", kAnyTime, "Idle time of an interactive MySQL session.")),
    Live(Seconds("wait_timeout", "28800", kAnyTime, "Idle time of a MySQL session.")),
    OnlyLive(Seconds("net_write_timeout", "60s", kAnyTime, "Time a client may take no bytes of an answer.")),
    Live(Bool("reset_network_timeout_on_packet", "1", "network_timeout starts again with every packet.")),
    Size("max_packet_size", "128m", {128 * kKilo, 128 * kMega}, "Longest packet and statement."),
    Later(Integer("max_filters", "256", {1, 10240}, "Conditions of one query.")),
    Later(Integer("max_filter_values", "4096", {1, 10'485'760}, "Values of one IN list.")),
    Later(Integer("max_batch_queries", "32", kAnyCount, "Statements of one multi-query.")),
    Later(Text("max_open_files", "", "Files the server may hold open: a number or max.")),
    Integer("listen_backlog", "128", {1, 65535}, "Connections the system may hold for us."),
    Later(Bool("listen_tfo", "0", "TCP fast open.")),
    Live(Later(
        Integer("net_wait_tm", "-1", {-1, kMany}, "Busy wait of the network threads in milliseconds."))),
    Later(Integer("net_throttle_accept", "0", kAnyCount, "Connections accepted in one go; 0: all.")),
    Later(Integer("net_throttle_action", "0", kAnyCount, "Requests taken in one go; 0: all.")),
    Later(Integer("persistent_connections_limit", "0", kAnyCount, "Open connections to one remote agent.")),
    Later(Choice("hostname_lookup", "config_load", "config_load|request",
                 "When names of agents are resolved.")),
    OnlyLive(
        Later(Integer("throttling_period", "100", kAnyCount, "Milliseconds of work before a query yields."))),
    OnlyLive(Later(Text("threads_ex", "", "Template for how a query is spread over threads."))),
    OnlyLive(Later(Bool("maintenance", "0", "Only VIP connections are served."))),
    OnlyLive(Later(Bool("cpustats", "0", "Count CPU time of queries."))),
    OnlyLive(Later(Bool("iostats", "0", "Count reads of queries."))),
    OnlyLive(Later(Bool("coredump", "0", "Leave a core file on a crash."))),
    OnlyLive(Later(Text("cluster_user", "", "User name for the nodes of a cluster."))),
    OnlyLive(Later(Bool("es_compat", "1", "Answer Elasticsearch-like requests."))),

    // How tables are stored and read; each also per table.
    Choice("engine", "rowwise", "rowwise|columnar", "Storage of new tables that do not say."),
    Later(Choice("access_plain_attrs", "mmap_preread", kMapModes, "How row-wise attributes are read.")),
    Later(Choice("access_blob_attrs", "mmap_preread", kMapModes, "How strings, JSON and lists are read.")),
    Later(Choice("access_dict", "mmap_preread", kMapModes, "How dictionaries are read.")),
    Later(Choice("access_doclists", "file", kFileModes, "How document lists are read.")),
    Later(Choice("access_hitlists", "file", kFileModes, "How positions are read.")),
    Choice("access_columnar_attrs", "mmap", kColumnModes,
           "How the files of columnar attributes are read; also per table."),
    Later(Choice("access_secondary", "mmap", kColumnModes, "How secondary indexes are read.")),
    Later(Bool("preopen_tables", "1", "Open the files of all tables at start.")),
    Later(Bool("seamless_rotate", "1", "Load a table's new files while the old ones serve.")),
    Later(Bool("unlink_old", "1", "Remove the files of a table that was replaced.")),
    Later(Seconds("attr_flush_period", "0", kAnyTime,
                  "Time between two writes of updated attributes; 0: off.")),
    Later(Size("read_buffer_docs", "256k", {8 * kKilo, kGiga}, "Buffer for document lists.")),
    Later(Size("read_buffer_hits", "256k", {8 * kKilo, kGiga}, "Buffer for positions.")),
    Later(Size("read_buffer_columnar", "256k", {8 * kKilo, kGiga}, "Buffer for columnar attributes.")),
    Later(Size("read_unhinted", "32k", {kKilo, kGiga}, "Read of unknown length.")),
    Size("columnar_cache_size", "64m", kAnySize,
         "Pages of columnar files kept that are read by position, all tables together; at most a quarter of "
         "the memory limit of the server's group."),
    Size("docstore_cache_size", "16m", kAnySize,
         "Unpacked blocks of stored fields kept, all tables together."),
    Later(Size("skiplist_cache_size", "64m", kAnySize, "Unpacked skip lists kept.")),
    Later(
        Size("subtree_docs_cache", "0", kAnySize, "Documents kept for parts that queries of a batch share.")),
    Later(
        Size("subtree_hits_cache", "0", kAnySize, "Positions kept for parts that queries of a batch share.")),
    Later(Size("secondary_index_block_cache", "8m", kAnySize, "Blocks of secondary indexes kept for joins.")),

    // Background work.
    Size("rt_mem_limit", "128m", {128 * kKilo, 1024 * kGiga},
         "Memory of a table's RAM part, over which it becomes a disk chunk; also per table."),
    Seconds("rt_flush_period", "10h", kAnyTime, "Time after which the RAM part of a table is written."),
    Later(Integer("rt_merge_iops", "0", kAnyCount, "Reads and writes a second of a merge; 0: no limit.")),
    Later(Size("rt_merge_maxiosize", "0", kAnySize, "Longest read or write of a merge; 0: no limit.")),
    Later(Seconds("diskchunk_flush_search_timeout", "30s", {-kSecond, 52 * kWeek},
                  "No automatic write of the RAM part without a search for this long; -1: off.")),
    Later(Seconds("diskchunk_flush_write_timeout", "1s", {-kSecond, 52 * kWeek},
                  "The RAM part is written after this long without a write; -1: off.")),
    Live(Integer("auto_optimize", "1", {0, 1000},
                 "Merge chunks above the cutoff by itself; n: above n times it; 0: never.")),
    Live(Integer("optimize_cutoff", "", {1, kMany},
                 "Chunks a table keeps; also per table. Default: twice the logical CPUs.")),
    Live(Integer("parallel_chunk_merges", "", {1, 1024},
                 "Merges at a time. Default: 1, or 2 from 4 threads.")),
    Live(Integer("merge_chunks_per_job", "2", {2, 1024}, "Chunks of one merge.")),
    Live(Integer("knn_parallel_build", "", {0, 1024},
                 "Threads that build a vector index. Default, and 0: one a logical CPU.")),
    Size("knn_mem_limit", "", kAnySize,
         "Memory of loaded vector indexes, all tables together; what is above is read from the files. "
         "Default: "
         "half of the machine's."),
    Live(Later(
        Integer("embeddings_threads", "4", {0, 1024}, "Threads that compute embeddings; 0: no limit."))),

    // Durability.
    Path("binlog_path", "", "Folder of the log; given and empty: no log. Default: binlog in data_dir."),
    Integer("binlog_flush", "1", {0, 2},
            "1: synced before a commit is acknowledged; 2: written then, synced every second; 0: both every "
            "second."),
    Later(Bool("binlog_common", "1", "One log for all tables; always so.")),
    Size("binlog_max_log_size", "256m", {kMega, 1024 * kGiga}, "A new log file starts after this size."),
    Later(Integer("binlog_filename_digits", "4", {4, 6}, "Digits in the name of a log file.")),

    // Queries.
    Live(Later(Bool("pseudo_sharding", "1", "Spread a query over threads."))),
    Live(Later(Choice("secondary_indexes", "1", "0|1|force", "Use secondary indexes."))),
    Later(Bool("not_terms_only_allowed", "0", "Allow full-text queries of NOT terms only.")),
    Later(Bool("boolean_simplify", "1", "Simplify full-text queries.")),
    Later(Integer("expansion_limit", "0", kAnyCount, "Terms a wildcard may stand for; 0: no limit.")),
    Live(Later(
        Integer("expansion_merge_threshold_docs", "32", kAnyCount, "Rarer expanded terms are merged."))),
    Live(Later(
        Integer("expansion_merge_threshold_hits", "256", kAnyCount, "Rarer expanded terms are merged."))),
    Later(Integer("expansion_phrase_limit", "1024", kAnyCount,
                  "Phrases a wildcard in a phrase may stand for.")),
    Later(Bool("expansion_phrase_warning", "0", "Over that limit a warning instead of an error.")),
    Live(Later(Bool("accurate_aggregation", "1", "Groups are exact; always so."))),
    Live(Later(
        Integer("distinct_precision_threshold", "3500", kAnyCount, "Kept for clients; counts are exact."))),
    Live(Later(Size("qcache_max_bytes", "16m", kAnySize, "Memory of cached results; 0: off."))),
    Live(Later(Millis("qcache_thresh_msec", "3000", kAnyTime, "Only slower queries are cached."))),
    Live(Later(Seconds("qcache_ttl_sec", "60", {kSecond, 52 * kWeek}, "How long a result is kept."))),
    Choice("collation_server", "libc_ci", "libc_ci|libc_cs|utf8_general_ci|utf8_ci|utf8_cs|binary",
           "Order and equality of strings."),
    Later(Text("collation_libc_locale", "C", "Locale of the libc collations.")),
    Live(Text("timezone", "", "IANA name of the time zone of date functions. Default: the machine's.")),
    Live(Bool("grouping_in_utc", "0", "Group dates in UTC; timezone = UTC says it better.")),
    Later(Bool("attr_autoconv_strict", "0", "A string that is no number is an error for a numeric column.")),
    Later(Bool("auto_schema", "1", "INSERT into a table that does not exist creates it.")),
    Later(Text("predicted_time_costs", "", "Costs for max_predicted_time.")),
    Later(Path("snippets_file_prefix", "", "Folder of files that highlighting may load.")),

    // Identity, start and stop, TLS.
    Text("mysql_version_string", "", "Version text of the MySQL handshake. Default: 8.0.40-stoa-<version>."),
    Later(Text("kibana_version_string", "7.6.0", "Version text for Kibana.")),
    Integer("server_id", "", {0, 127},
            "Part of automatic ids; must differ between servers that share data. Default 0."),
    Seconds("shutdown_timeout", "60s", kAnyTime, "Time a clean stop may take."),
    Later(Text("shutdown_token", "", "SHA1 of the password of a remote stop.")),
    Later(Bool("watchdog", "1", "A second process that starts the server again; never so.")),
    Later(Bool("telemetry", "0", "Nothing is ever sent.")),
    Later(Path("sphinxql_state", "", "File of global user variables.")),
    Path("ssl_ca", "", "Certificates that clients' certificates are checked with."),
    Path("ssl_cert", "", "The server's certificate (PEM); together with ssl_key it turns TLS on."),
    Path("ssl_key", "", "The key of ssl_cert (PEM)."),
    Later(Text("buddy_path", "", "Kept for old files; there is no side process.")),

    // Other servers.
    Later(Millis("agent_connect_timeout", "1s", kAnyTime, "Time to connect to a remote agent.")),
    Later(Millis("agent_query_timeout", "3s", kAnyTime, "Time a remote agent may take.")),
    Later(Integer("agent_retry_count", "0", kAnyCount, "Further tries at a remote agent.")),
    Later(Millis("agent_retry_delay", "500ms", kAnyTime, "Time between two tries.")),
    Later(Seconds("ha_period_karma", "60s", kAnyTime, "Span of the statistics of agents.")),
    Later(Millis("ha_ping_interval", "1s", kAnyTime, "Time between two pings of an agent.")),
    Later(Integer("join_batch_size", "1000", kAnyCount, "Rows joined at a time; 0: one by one.")),
    Later(Size("join_cache_size", "20m", kAnySize, "Memory of join results, a thread.")),
    Later(Millis("replication_connect_timeout", "1s", kAnyTime, "Time to connect to a node.")),
    Later(Millis("replication_query_timeout", "3s", kAnyTime, "Time a node may take.")),
    Later(Integer("replication_retry_count", "3", kAnyCount, "Further tries at a node.")),
    Later(Millis("replication_retry_delay", "500ms", kAnyTime, "Time between two tries.")),
    Later(Text("node_address", "", "This node's address in a cluster.")),
    Later(Text("net_send_job", "", "Kept for old files.")),
    Later(Text("merge_buffer_*", "", "Kept for old files.")),
    Later(Text("merge_si_memlimit", "", "Kept for old files.")),

    // Section common.
    Common(Later(Path("lemmatizer_base", "/usr/share/stoa", "Folder of dictionaries."))),
    Common(Later(Bool("progressive_merge", "1", "Merge small chunks first."))),
    Common(Later(Choice("json_autoconv_keynames", "", "lowercase", "How JSON keys are changed."))),
    Common(Later(Bool("json_autoconv_numbers", "0", "Strings in JSON that are numbers become numbers."))),
    Common(
        Later(Choice("on_json_attr_error", "fail_index", "ignore_attr|fail_index", "What bad JSON does."))),
    Common(Later(Path("plugin_dir", "/usr/local/lib/stoa", "Folder of plugins."))),

    // Removed keys of old files.
    Removed("address"),
    Removed("port"),
    Removed("max_children"),
    Removed("max_matches"),
    Removed("preopen_indexes"),
    Removed("read_timeout"),
    Removed("read_buffer"),
    Removed("workers"),
    Removed("dist_threads"),
    Removed("mva_updates_pool"),
    Removed("ondisk_*"),
    Removed("prefer_rotate"),
    Removed("queue_max_length"),
    Removed("columnar_compression_*"),
};

}  // namespace

std::span<const Setting> AllSettings() { return kSettings; }

}  // namespace stoa::config
