#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "storage/base/env.h"
#include "storage/base/ids.h"
#include "storage/base/result.h"

namespace stoa::storage {

struct BinlogOptions {
  std::string folder;
  int flush = 1;  // StorageOptions::binlog_flush
  uint64_t max_segment_size = 256u << 20;
  bool ignore_damaged_transactions = false;
  std::chrono::milliseconds sync_interval{1000};  // flush 0 and 2
};

struct BinlogCounters {
  uint64_t bytes = 0;
  uint64_t writes = 0;
  uint64_t syncs = 0;
};

// The server's one log of committed transactions: files binlog.NNNN in one folder, docs/format/binlog.md.
//
// A transaction is one record (payload opaque here) with its LSN, length and CRC32C. Append() hands a record
// over in LSN order, MakeDurable() returns when it is as durable as `flush` asks (group commit: one caller
// writes and syncs for all that wait). Every method may be called from any thread.
//
// Failing writes: when a write or sync fails, every record since the last durable one is given up. The log
// then starts a new segment whose header says where the previous one ends ("valid up to"), so that bytes of
// given-up records that reached the disk are never replayed; only when that header is durable are new records
// taken. Until it is, Append() fails with the reason and tries again on each call. Given-up LSNs are not used
// again. What flush 0 or 2 acknowledged before it was synced is not given up: it is kept in memory and
// written to the new segment.
//
// Without Close() the destructor writes nothing more: with flush 0 and 2 up to a second is lost, as in a
// crash.
class Binlog {
 public:
  // A record of the log during Open(): `tables` and `payload` as given to Append().
  using Replay = std::function<Status(Lsn lsn, std::string_view payload)>;

  // Replays every whole record with LSN above `after`, in order, then opens a new segment.
  // A torn tail of the newest segment is cut with a warning; a damaged record in the middle is an error
  // (file, offset, what to do) unless ignore_damaged_transactions; so is a missing segment. Damage and gaps
  // that only concern LSNs up to `after` or up to the last Forget() are passed over. When `replay` gives
  // kCorrupt the record counts as damaged, any other error ends Open(). A missing or empty folder is an empty
  // log.
  static Result<std::unique_ptr<Binlog>> Open(const BinlogOptions& options, Env& env, Lsn after,
                                              const Replay& replay);
  virtual ~Binlog() = default;

  // Assigns the next LSN. The caller keeps the order of Append() calls equal to the order of its own changes.
  virtual Result<Lsn> Append(std::string_view payload) = 0;
  // Blocks. On error the record is given up, and so is every later one appended before this returned the
  // error.
  virtual Status MakeDurable(Lsn lsn) = 0;
  virtual Lsn last_appended() const = 0;
  virtual Lsn last_durable() const = 0;  // every LSN up to it is durable as `flush` asks

  // Everything up to `lsn` is elsewhere on disk: whole segments that hold nothing later are removed. The
  // current one is ended first if it is among them. On error nothing needed is lost, and the next call tries
  // again.
  virtual Status Forget(Lsn lsn) = 0;
  virtual Status Close() = 0;                    // writes and syncs what is left
  virtual size_t retained_segments() const = 0;  // files, the current one included
  virtual BinlogCounters counters() const = 0;
};

}  // namespace stoa::storage
