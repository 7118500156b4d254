#include "storage/binlog/binlog_writer.h"

#include <utility>

#include "storage/base/check.h"
#include "storage/base/fault_point.h"
#include "storage/base/log.h"

namespace stoa::storage {

Status BinlogWriter::StartNext(uint64_t first_lsn, uint64_t forgotten) {
  if (!kept_.empty()) {
    RETURN_IF_ERROR(MakeNext(kept_.front().first_lsn, forgotten));
    if (next_lsn_ == first_lsn) {
      return Status::Ok();
    }
  }
  return MakeNext(first_lsn, forgotten);
}

Status BinlogWriter::MakeNext(uint64_t first_lsn, uint64_t forgotten) {
  STOA_FAULT_POINT("binlog.rotate");
  if (failed_ && kept_.empty()) {
    // Not needed for correctness; on a full disk it makes room for the new segment.
    if (const Status status = file_->Truncate(end_.offset); !status.ok()) {
      LogWarning("binlog: {}", status.text());
    }
  }
  const SegmentHeader header{.number = end_.number + 1,
                             .first_lsn = first_lsn,
                             .previous_lsn = end_.last_lsn,
                             .previous_end = end_.offset,
                             .forgotten = forgotten};
  std::string bytes = header.Encode();
  for (const RecordBatch& batch : kept_) {
    bytes += batch.bytes;
  }
  ASSIGN_OR_RETURN(file_, MakeSegment(header.number, bytes));
  if (size_ > 0) {
    ended_.push_back(end_);
  }
  size_ = bytes.size();
  next_lsn_ = kept_.empty() ? first_lsn : kept_.back().last_lsn + 1;
  end_ = {.number = header.number,
          .offset = size_,
          .last_lsn = kept_.empty() ? end_.last_lsn : kept_.back().last_lsn};
  kept_.clear();
  failed_ = false;
  return Status::Ok();
}

Result<std::unique_ptr<WritableFile>> BinlogWriter::MakeSegment(uint64_t number, std::string_view bytes) {
  ASSIGN_OR_RETURN(auto file, env_.Create(folder_ + "/" + SegmentName(number)));
  RETURN_IF_ERROR(file->Append(bytes));
  RETURN_IF_ERROR(file->Sync());
  RETURN_IF_ERROR(env_.SyncFolder(folder_));
  ++counters_.writes;
  ++counters_.syncs;
  counters_.bytes += bytes.size();
  return file;
}

Status BinlogWriter::Rotate(uint64_t forgotten) {
  RETURN_IF_ERROR(Sync());
  return StartNext(next_lsn_, forgotten);
}

Status BinlogWriter::Write(RecordBatch batch) {
  if (batch.empty()) {
    return Status::Ok();
  }
  STOA_CHECK(!failed_ && batch.first_lsn == next_lsn_);
  const Status status = AppendBytes(batch.bytes);
  failed_ = !status.ok();
  if (status.ok()) {
    size_ += batch.bytes.size();
    next_lsn_ = batch.last_lsn + 1;
  }
  if (flush_ == 0 || (flush_ == 2 && status.ok())) {
    kept_.push_back(std::move(batch));
  }
  return status;
}

Status BinlogWriter::AppendBytes(std::string_view bytes) {
  STOA_FAULT_POINT("binlog.write");
  RETURN_IF_ERROR(file_->Append(bytes));
  ++counters_.writes;
  counters_.bytes += bytes.size();
  STOA_FAULT_POINT("binlog.write.after");
  return Status::Ok();
}

Status BinlogWriter::Sync() {
  STOA_CHECK(!failed_);
  if (unsynced_bytes() == 0) {
    return Status::Ok();
  }
  const Status status = SyncFile();
  failed_ = !status.ok();
  if (status.ok()) {
    end_.offset = size_;
    end_.last_lsn = next_lsn_ - 1;
    kept_.clear();
  }
  return status;
}

Status BinlogWriter::SyncFile() {
  STOA_FAULT_POINT("binlog.sync");
  RETURN_IF_ERROR(file_->Sync());
  ++counters_.syncs;
  STOA_FAULT_POINT("binlog.sync.after");
  return Status::Ok();
}

Status BinlogWriter::Close() { return file_ == nullptr ? Status::Ok() : file_->Close(); }

}  // namespace stoa::storage
