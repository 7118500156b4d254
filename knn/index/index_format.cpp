#include "knn/index/index_format.h"

#include "knn/graph/graph.h"
#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"

namespace stoa::knn {

namespace {

constexpr uint32_t kMostLinks = 4096;
constexpr uint32_t kLongestCode = 1u << 24;

}  // namespace

std::string IndexInfo::Encode() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Write(static_cast<uint32_t>(contents));
  for (const uint32_t value : {row_count, node_count, m, link_bytes, code_bytes, entry_node, upper_entry}) {
    writer.Write(value);
  }
  return bytes;
}

Result<IndexInfo> IndexInfo::Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  IndexInfo info;
  ASSIGN_OR_RETURN(const uint32_t contents, reader.Read<uint32_t>());
  for (uint32_t* value : {&info.row_count, &info.node_count, &info.m, &info.link_bytes, &info.code_bytes,
                          &info.entry_node, &info.upper_entry}) {
    ASSIGN_OR_RETURN(*value, reader.Read<uint32_t>());
  }
  if (contents > static_cast<uint32_t>(IndexContents::kGraph)) {
    return CorruptError("unknown contents {} of a vector index", contents);
  }
  info.contents = static_cast<IndexContents>(contents);
  const bool graph = info.contents == IndexContents::kGraph;
  if (!reader.done() || (info.link_bytes != 3 && info.link_bytes != 4) || info.m > kMostLinks ||
      graph != (info.m > 0) || info.code_bytes > kLongestCode || info.code_bytes % 16 != 0 ||
      info.node_count >= Graph::kMostNodes || (graph && info.entry_node >= info.node_count)) {
    return CorruptError("{} nodes of {} bytes, {} links of {} bytes, entry {}", info.node_count,
                        info.code_bytes, info.m, info.link_bytes, info.entry_node);
  }
  return info;
}

}  // namespace stoa::knn
