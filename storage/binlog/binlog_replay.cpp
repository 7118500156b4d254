#include "storage/binlog/binlog_replay.h"

#include <algorithm>
#include <limits>

#include "storage/base/log.h"

namespace stoa::storage {
namespace {

constexpr const char* kSwitch = "--replay-flags=ignore-trx-errors";
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

}  // namespace

Result<ReplayEnd> BinlogReplay::Run() {
  RETURN_IF_ERROR(FindSegments());
  RETURN_IF_ERROR(DropUnfinishedSegment());
  needless_ = after_;
  for (const Segment& segment : segments_) {
    result_.forgotten = std::max(result_.forgotten, segment.header.forgotten);
    if (segment.header_ok) {
      result_.last_lsn = std::max(result_.last_lsn, segment.header.first_lsn - 1);
    }
  }
  needless_ = std::max(after_, result_.forgotten);
  for (size_t i = 0; i < segments_.size(); ++i) {
    RETURN_IF_ERROR(CheckNothingMissing(segments_[i]));
    RETURN_IF_ERROR(ReplaySegment(segments_[i], BoundsOf(i)));
    result_.segments.push_back(result_.end);
  }
  result_.last_lsn = std::max({result_.last_lsn, result_.end.last_lsn, needless_});
  if (result_.last_lsn > kMaxLsn / 2) {
    return LimitError("{}: transaction number {} leaves no room for new ones", options_.folder,
                      result_.last_lsn);
  }
  if (!segments_.empty()) {
    LogInfo("binlog: replayed {} transactions of {} segments in {}, last one is {}", replayed_,
            segments_.size(), options_.folder, result_.end.last_lsn);
  }
  return result_;
}

Status BinlogReplay::FindSegments() {
  if (!env_.Exists(options_.folder)) {
    return Status::Ok();
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env_.List(options_.folder));
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    if (const std::optional<uint64_t> number = ParseSegmentName(name)) {
      numbers.push_back(*number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  for (const uint64_t number : numbers) {
    ASSIGN_OR_RETURN(Segment segment, OpenSegment(number));
    segments_.push_back(std::move(segment));
  }
  return Status::Ok();
}

Result<BinlogReplay::Segment> BinlogReplay::OpenSegment(uint64_t number) {
  Segment segment;
  segment.number = number;
  segment.path = options_.folder + "/" + SegmentName(number);
  ASSIGN_OR_RETURN(segment.size, env_.FileSize(segment.path));
  ASSIGN_OR_RETURN(const std::string bytes,
                   env_.ReadRange(segment.path, 0, std::min<uint64_t>(segment.size, kSegmentHeaderSize)));
  Result<SegmentHeader> header = SegmentHeader::Decode(bytes, segment.path);
  if (header.ok()) {
    const bool plausible = header->number == number && header->first_lsn != 0 &&
                           header->first_lsn <= kMaxLsn && header->previous_lsn < header->first_lsn &&
                           header->forgotten <= kMaxLsn;
    if (!plausible) {
      header = CorruptError("{}: offset 0: the segment header is not that of this file", segment.path);
    }
  }
  if (header.ok()) {
    segment.header = *header;
    segment.header_ok = true;
  } else if (header.status().code() != StatusCode::kCorrupt) {
    return header.status();
  }
  return segment;
}

// Records follow a header only once that is durable. So a newest file that has no header (yet) and nothing
// behind it was being made when the power went.
Status BinlogReplay::DropUnfinishedSegment() {
  if (segments_.empty() || segments_.back().header_ok) {
    return Status::Ok();
  }
  const Segment& newest = segments_.back();
  ASSIGN_OR_RETURN(const std::string bytes, env_.ReadFile(newest.path));
  if (bytes.size() > kSegmentHeaderSize && bytes.find_first_not_of('\0') != std::string::npos) {
    return Status::Ok();
  }
  LogWarning("binlog: {}: the segment has no header yet and no transactions, it is made anew", newest.path);
  result_.end.number = newest.number - 1;
  segments_.pop_back();
  return Status::Ok();
}

Status BinlogReplay::CheckNothingMissing(const Segment& segment) {
  if (!segment.header_ok) {
    return Refuse(segment.path, 0, "damaged segment header");
  }
  const bool first = result_.segments.empty();
  if (!first && segment.number == result_.end.number + 1) {
    return Status::Ok();
  }
  const uint64_t seen = std::max(needless_, result_.end.last_lsn);
  if (segment.header.previous_lsn <= seen) {
    if (!first) {
      LogWarning("binlog: segments between {} and {} are missing, nothing of them is needed",
                 SegmentName(result_.end.number), segment.path);
    }
    return Status::Ok();
  }
  return Refuse(segment.path, 0,
                fmt::format("segments before this one are missing, with the transactions after {} up to {}",
                            seen, segment.header.previous_lsn));
}

BinlogReplay::Bounds BinlogReplay::BoundsOf(size_t index) const {
  const Segment& segment = segments_[index];
  if (index + 1 == segments_.size()) {
    return {.offset = segment.size, .last_lsn = kNoLimit, .newest = true};
  }
  const Segment& next = segments_[index + 1];
  if (!next.header_ok) {
    return {.offset = segment.size, .last_lsn = kNoLimit, .newest = false};
  }
  const bool neighbour = next.number == segment.number + 1;
  return {.offset = neighbour ? next.header.previous_end : segment.size,
          .last_lsn = next.header.previous_lsn,
          .newest = false};
}

Status BinlogReplay::ReplaySegment(const Segment& segment, const Bounds& bounds) {
  SegmentEnd& end = result_.end;
  end.number = segment.number;
  end.offset = kSegmentHeaderSize;
  end.last_lsn = segment.header_ok ? std::max(segment.header.previous_lsn, end.last_lsn) : end.last_lsn;
  if (bounds.last_lsn <= after_) {
    end.offset = bounds.offset;
    end.last_lsn = bounds.last_lsn;
    return Status::Ok();
  }
  BinlogReader reader(env_, segment.path, std::min(segment.size, bounds.offset));
  uint64_t expected = segment.header_ok ? segment.header.first_lsn : end.last_lsn + 1;
  while (!reader.done()) {
    const uint64_t offset = reader.offset();
    ASSIGN_OR_RETURN(const std::optional<BinlogRecord> record, reader.Read());
    if (!record) {
      ASSIGN_OR_RETURN(const bool go_on, PassDamage(reader, expected, bounds));
      if (!go_on) {
        return Status::Ok();
      }
      continue;
    }
    if (record->lsn > bounds.last_lsn) {
      return Status::Ok();  // given up, and the segment that says where is missing
    }
    if (record->lsn != expected && record->lsn - 1 > needless_) {
      RETURN_IF_ERROR(Refuse(segment.path, offset,
                             fmt::format("transaction {} where {} belongs", record->lsn, expected)));
    }
    if (record->lsn >= expected) {
      RETURN_IF_ERROR(Deliver(*record, segment.path, offset));
      expected = record->lsn + 1;
      end.last_lsn = record->lsn;
    }
    end.offset = reader.offset();
  }
  if (bounds.last_lsn != kNoLimit && end.last_lsn < bounds.last_lsn && bounds.last_lsn > needless_) {
    return Refuse(segment.path, reader.offset(),
                  fmt::format("the file ends too early, transactions {} to {} are missing", end.last_lsn + 1,
                              bounds.last_lsn));
  }
  return Status::Ok();
}

Result<bool> BinlogReplay::PassDamage(BinlogReader& reader, uint64_t expected_lsn, const Bounds& bounds) {
  const uint64_t offset = reader.offset();
  ASSIGN_OR_RETURN(const std::optional<uint64_t> found, reader.FindNext(expected_lsn, bounds.last_lsn));
  if (!found && bounds.newest) {
    LogWarning("binlog: {}: cut at offset {}: the last record is not whole (last transaction is {})",
               reader.path(), offset, result_.end.last_lsn);
    return false;
  }
  const uint64_t last_damaged = found ? *found - 1 : bounds.last_lsn;
  if (last_damaged <= needless_) {
    LogWarning("binlog: {}: damaged at offset {}, nothing of it is needed", reader.path(), offset);
    return found.has_value();
  }
  RETURN_IF_ERROR(
      Refuse(reader.path(), offset, fmt::format("damaged record of transaction {}", expected_lsn)));
  return found.has_value();
}

Status BinlogReplay::Deliver(const BinlogRecord& record, const std::string& path, uint64_t offset) {
  if (record.lsn <= after_) {
    return Status::Ok();
  }
  const Status status = replay_(Lsn(record.lsn), record.payload);
  if (status.ok()) {
    ++replayed_;
    return status;
  }
  const std::string what = fmt::format("transaction {}: {}", record.lsn, status.text());
  return status.code() == StatusCode::kCorrupt
             ? Refuse(path, offset, what)
             : Status(status.code(), fmt::format("{}: offset {}: {}", path, offset, what), status.number());
}

Status BinlogReplay::Refuse(const std::string& path, uint64_t offset, const std::string& what) const {
  if (options_.ignore_damaged_transactions) {
    LogWarning("binlog: {}: offset {}: {}; skipped", path, offset, what);
    return Status::Ok();
  }
  return CorruptError(
      "{}: offset {}: {}; {} transactions before it were replayed, the last one is {}; restore the file, or "
      "start with {} "
      "to skip what is damaged",
      path, offset, what, replayed_, result_.end.last_lsn, kSwitch);
}

}  // namespace stoa::storage
