#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/env.h"
#include "storage/binlog/binlog.h"
#include "storage/binlog/binlog_format.h"
#include "storage/binlog/binlog_reader.h"
#include "storage/binlog/binlog_writer.h"

namespace stoa::storage {

struct ReplayEnd {
  std::vector<SegmentEnd> segments;  // all that are there, oldest first
  SegmentEnd end;                    // how far the newest counts; the next segment gets end.number + 1
  uint64_t last_lsn = 0;             // the largest LSN ever given, as far as the files tell
  uint64_t forgotten = 0;
};

// Finds the segments of a folder and hands their records over in order. Used once, by one thread.
//
// Which bytes of a segment count is said by the header of the next one. Only the newest segment may therefore
// end in the middle of a record. What nobody needs any more (records up to `after` or forgotten) may be
// damaged or missing.
class BinlogReplay {
 public:
  BinlogReplay(const BinlogOptions& options, Env& env, Lsn after, const Binlog::Replay& replay)
      : options_(options), env_(env), after_(after.value), replay_(replay) {}

  Result<ReplayEnd> Run();

 private:
  struct Segment {
    uint64_t number = 0;
    std::string path;
    uint64_t size = 0;
    SegmentHeader header;
    bool header_ok = false;
  };
  // How far a segment is read.
  struct Bounds {
    uint64_t offset;
    uint64_t last_lsn;
    bool newest;
  };

  Status FindSegments();
  Result<Segment> OpenSegment(uint64_t number);
  Status DropUnfinishedSegment();
  Status CheckNothingMissing(const Segment& segment);
  Bounds BoundsOf(size_t index) const;
  Status ReplaySegment(const Segment& segment, const Bounds& bounds);
  // Finds out what to do at a place without a whole record. True: go on at the reader's (new) place.
  Result<bool> PassDamage(BinlogReader& reader, uint64_t expected_lsn, const Bounds& bounds);
  Status Deliver(const BinlogRecord& record, const std::string& path, uint64_t offset);
  // Ok with a warning when damage is to be ignored, else kCorrupt with advice.
  Status Refuse(const std::string& path, uint64_t offset, const std::string& what) const;

  const BinlogOptions& options_;
  Env& env_;
  const uint64_t after_;
  const Binlog::Replay& replay_;
  uint64_t needless_ = 0;  // records up to this LSN are elsewhere on disk
  uint64_t replayed_ = 0;
  std::vector<Segment> segments_;
  ReplayEnd result_;
};

}  // namespace stoa::storage
