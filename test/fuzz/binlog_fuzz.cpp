// Opens a log whose segments are the fuzzer's bytes. Whatever they are, opening either fails with a status or
// gives a log that takes new records and replays the same ones when it is opened again.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/check.h"
#include "storage/base/crc32c.h"
#include "storage/base/log.h"
#include "storage/base/memory_env.h"
#include "storage/binlog/binlog.h"
#include "storage/binlog/binlog_format.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace stoa::storage {
namespace {

// Input: flags, `after`, size of the first segment (2 bytes), first segment, second segment (if anything is
// left).
constexpr size_t kPreamble = 4;
constexpr uint8_t kIgnoreDamage = 1;

using Records = std::vector<std::pair<uint64_t, std::string>>;

struct Quiet : LogSink {
  void Write(LogLevel, std::string_view) override {}
};

size_t FirstSize(std::string_view input) {
  const size_t size =
      static_cast<uint8_t>(input[2]) + static_cast<size_t>(static_cast<uint8_t>(input[3])) * 256;
  return std::min(size, input.size() - kPreamble);
}

void Put(MemoryEnv& env, uint64_t number, std::string_view bytes) {
  const auto file = env.Create("/log/" + SegmentName(number));
  STOA_CHECK(file.ok() && file.value()->Append(bytes).ok());
}

Result<std::unique_ptr<Binlog>> Open(const BinlogOptions& options, MemoryEnv& env, uint64_t after,
                                     Records& records) {
  records.clear();
  return Binlog::Open(options, env, Lsn(after), [&](Lsn lsn, std::string_view payload) {
    STOA_CHECK(lsn.value > after && (records.empty() || lsn.value > records.back().first));
    records.emplace_back(lsn.value, payload);
    return Status::Ok();
  });
}

void Run(std::string_view input) {
  MemoryEnv env;
  STOA_CHECK(env.MakeFolder("/log").ok());
  const size_t first = FirstSize(input);
  Put(env, 1, input.substr(kPreamble, first));
  if (input.size() > kPreamble + first) {
    Put(env, 2, input.substr(kPreamble + first));
  }
  BinlogOptions options;
  options.folder = "/log";
  options.ignore_damaged_transactions = (input[0] & kIgnoreDamage) != 0;
  const uint64_t after = static_cast<uint8_t>(input[1]) / 16;

  Records records;
  auto binlog = Open(options, env, after, records);
  if (!binlog.ok()) {
    const StatusCode code = binlog.status().code();
    STOA_CHECK(code == StatusCode::kUnsupported || code == StatusCode::kLimit ||
               (code == StatusCode::kCorrupt && !options.ignore_damaged_transactions));
    return;
  }
  const Lsn lsn = binlog.value()->Append("new").value();
  STOA_CHECK(binlog.value()->MakeDurable(lsn).ok());
  STOA_CHECK(records.empty() || lsn.value > records.back().first);
  records.emplace_back(lsn.value, "new");
  Records again;
  const Status status = Open(options, env, after, again).status();
  if (status.code() == StatusCode::kLimit) {
    return;  // the new record took the last number
  }
  STOA_CHECK(status.ok());
  STOA_CHECK(again == records);
}

// Makes what looks like a segment one whose checksums are right; about every eighth record stays as it is.
void Repair(std::string& bytes, uint64_t number, unsigned seed) {
  if (bytes.size() < kSegmentHeaderSize) {
    return;
  }
  SegmentHeader header;
  for (auto [field, offset] : {std::pair(&header.first_lsn, 20), std::pair(&header.previous_lsn, 28),
                               std::pair(&header.previous_end, 36), std::pair(&header.forgotten, 44)}) {
    std::memcpy(field, bytes.data() + offset, sizeof(*field));
  }
  header.number = number;
  if (seed % 4 != 0) {
    header.first_lsn = header.first_lsn % 16 + 1;
    header.previous_lsn %= header.first_lsn;
    header.previous_end %= 256;
    header.forgotten %= 16;
  }
  bytes.replace(0, kSegmentHeaderSize, header.Encode());
  uint64_t lsn = header.first_lsn;
  for (size_t at = kSegmentHeaderSize; at + kRecordHeaderSize <= bytes.size();
       ++lsn, seed = seed * 1664525 + 1013904223) {
    const size_t length =
        std::min<size_t>(static_cast<uint8_t>(bytes[at]), bytes.size() - at - kRecordHeaderSize);
    const std::string payload = bytes.substr(at + kRecordHeaderSize, length);
    if (seed >> 29 != 0) {
      RecordBatch record;
      record.Add(lsn, payload, Crc32c(payload));
      bytes.replace(at, record.bytes.size(), record.bytes);
    }
    at += kRecordHeaderSize + length;
  }
}

}  // namespace
}  // namespace stoa::storage

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static stoa::storage::Quiet quiet;
  stoa::SetLogSink(&quiet);
  if (size >= stoa::storage::kPreamble) {
    stoa::storage::Run(std::string_view(reinterpret_cast<const char*>(data), size));
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  using namespace stoa::storage;  // NOLINT(google-build-using-namespace): the function has to be outside
  size = LLVMFuzzerMutate(data, size, max_size);
  if (size < kPreamble || seed % 8 == 0) {
    return size;
  }
  const std::string input(reinterpret_cast<const char*>(data), size);
  const size_t first = FirstSize(input);
  std::string one = input.substr(kPreamble, first);
  std::string two = input.substr(kPreamble + first);
  Repair(one, 1, seed);
  Repair(two, 2, seed / 8);
  const std::string repaired = input.substr(0, kPreamble) + one + two;
  std::memcpy(data, repaired.data(), repaired.size());
  return repaired.size();
}
