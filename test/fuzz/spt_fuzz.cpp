#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/memory_env.h"
#include "storage/chunk/document_index.h"
#include "storage/chunk/document_index_format.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

class IdInput : public ColumnInput {
 public:
  explicit IdInput(ColumnValues ids) : ids_(std::move(ids)) {}
  uint32_t row_count() const override { return static_cast<uint32_t>(ids_.ints.size()); }
  Status Rewind() override {
    done_ = ids_.ints.empty();
    return Status::Ok();
  }
  Result<const ColumnValues*> Next() override { return std::exchange(done_, true) ? nullptr : &ids_; }

 private:
  ColumnValues ids_;
  bool done_ = false;
};

// Looks up ids at and around the blocks of whatever the file is.
void Look(MemoryEnv& env) {
  const auto index = DocumentIndex::Open(env, "/d/x", ChunkId(7));
  if (!index.ok()) {
    return;
  }
  const uint64_t least = (*index)->min_id().value;
  const uint64_t greatest = (*index)->max_id().value;
  for (uint64_t step = 0; step < 300; ++step) {
    for (const uint64_t id : {least + step, greatest - step, least + (greatest - least) / 300 * step}) {
      const auto row = (*index)->Find(DocId(id));
      if (row.ok() && row->has_value() && (*row)->value >= (*index)->row_count()) {
        std::abort();
      }
    }
  }
}

// Sections in a right frame: kind byte, length byte, bytes.
void LookFramed(MemoryEnv& env, std::string_view input) {
  auto file = env.Create("/d/x");
  SectionFileWriter writer(**file, kDocumentIndexKind, 7);
  while (input.size() >= 2) {
    const size_t length = std::min<size_t>(static_cast<uint8_t>(input[1]), input.size() - 2);
    (void)writer.AddSection(static_cast<uint8_t>(input[0]) % 5, 0, input.substr(2, length));
    input.remove_prefix(2 + length);
  }
  (void)writer.Finish();
  Look(env);
}

// The input as ids, 8 bytes each: all are found again.
void WriteAndLook(MemoryEnv& env, std::string_view input) {
  ColumnValues ids{.type = ColumnType::kId};
  std::set<int64_t> known;
  for (; input.size() >= 8; input.remove_prefix(8)) {
    int64_t id;
    std::memcpy(&id, input.data(), sizeof(id));
    if (known.insert(id).second) {
      ids.AppendInt(id);
    }
  }
  IdInput column(ids);
  auto file = env.Create("/d/x");
  if (!DocumentIndex::Write(column, **file, ChunkId(7)).ok()) {
    std::abort();
  }
  const auto index = DocumentIndex::Open(env, "/d/x", ChunkId(7));
  if (!index.ok() || !(*index)->Check(column).ok()) {
    std::abort();
  }
  Look(env);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  MemoryEnv env;
  if (!env.MakeFolder("/d").ok()) {
    return 0;
  }
  if (data[0] % 3 == 0) {
    WriteAndLook(env, input);
  } else if (data[0] % 3 == 1) {
    LookFramed(env, input);
  } else if (WriteFileAtomically(env, "/d/x", input).ok()) {
    Look(env);
  }
  return 0;
}
