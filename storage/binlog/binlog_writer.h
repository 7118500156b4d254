#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/env.h"
#include "storage/binlog/binlog.h"
#include "storage/binlog/binlog_format.h"

namespace stoa::storage {

// How far a segment counts.
struct SegmentEnd {
  uint64_t number = 0;
  uint64_t offset = 0;    // end of its last record that counts
  uint64_t last_lsn = 0;  // of the last record that counts up to there, in this segment or before
};

// Writes the segments of a binlog. One thread at a time.
//
// Records acknowledged before they are synced (flush 0 and 2) are kept in memory until they are: after a
// failure the next segment starts with them. After a failed Write() or Sync() only StartNext() is legal until
// it succeeds.
class BinlogWriter {
 public:
  BinlogWriter(Env& env, const BinlogOptions& options, const SegmentEnd& end)
      : env_(env), folder_(options.folder), flush_(options.flush), end_(end) {}

  // Makes the next segment; returns when its header is durable. Everything behind end() of the current one is
  // void from then on. `first_lsn` is that of the next record given to Write(). Kept records get a segment
  // before it when LSNs between them and `first_lsn` were given up.
  Status StartNext(uint64_t first_lsn, uint64_t forgotten);
  // Sync(), then StartNext().
  Status Rotate(uint64_t forgotten);
  Status Write(RecordBatch batch);
  Status Sync();
  Status Close();

  const SegmentEnd& end() const { return end_; }  // what is synced
  uint64_t size() const { return size_; }
  bool has_records() const { return size_ > kSegmentHeaderSize; }
  uint64_t unsynced_bytes() const { return size_ - end_.offset; }
  uint64_t next_lsn() const { return next_lsn_; }
  // The segments that came to their end since the last call.
  std::vector<SegmentEnd> TakeEnded() { return std::exchange(ended_, {}); }
  const BinlogCounters& counters() const { return counters_; }

 private:
  Status MakeNext(uint64_t first_lsn, uint64_t forgotten);
  Status AppendBytes(std::string_view bytes);
  Status SyncFile();
  Result<std::unique_ptr<WritableFile>> MakeSegment(uint64_t number, std::string_view bytes);

  Env& env_;
  const std::string folder_;
  const int flush_;
  SegmentEnd end_;
  std::unique_ptr<WritableFile> file_;
  uint64_t size_ = 0;
  uint64_t next_lsn_ = 0;
  bool failed_ = false;
  std::vector<RecordBatch> kept_;
  std::vector<SegmentEnd> ended_;
  BinlogCounters counters_;
};

}  // namespace stoa::storage
