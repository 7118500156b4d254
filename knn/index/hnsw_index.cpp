#include "knn/index/hnsw_index.h"

#include <algorithm>

namespace stoa::knn {

using storage::ColumnDefinition;
using storage::OpenSectionFile;
using storage::SectionBytes;

namespace {

Result<std::string> ReadWhole(const OpenSectionFile& file, uint32_t kind, uint32_t key) {
  ASSIGN_OR_RETURN(const SectionBytes section, file.Section(kind, key));
  std::string bytes(section.length(), '\0');
  RETURN_IF_ERROR(section.ReadTo(0, bytes));
  return bytes;
}

Result<std::vector<uint32_t>> ReadNumbers(const OpenSectionFile& file, uint32_t kind, uint32_t key) {
  ASSIGN_OR_RETURN(const SectionBytes section, file.Section(kind, key));
  if (section.length() % sizeof(uint32_t) != 0) {
    return CorruptError("{}: section {}.{} does not hold whole numbers", file.path(), kind, key);
  }
  std::vector<uint32_t> numbers(section.length() / sizeof(uint32_t));
  if (!numbers.empty()) {
    RETURN_IF_ERROR(section.ReadTo(0, {reinterpret_cast<char*>(numbers.data()), section.length()}));
  }
  return numbers;
}

}  // namespace

Result<std::shared_ptr<const HnswIndex>> HnswIndex::Open(std::shared_ptr<const OpenSectionFile> file,
                                                         const ColumnDefinition& column, uint32_t row_count,
                                                         std::shared_ptr<IndexMemory> memory) {
  const uint32_t key = column.id.value;
  const std::shared_ptr<HnswIndex> index(new HnswIndex);
  index->path_ = file->path();
  index->memory_ = std::move(memory);
  ASSIGN_OR_RETURN(const std::string info, ReadWhole(*file, kInfoSection, key));
  Result<IndexInfo> decoded = IndexInfo::Decode(info);
  if (!decoded.ok()) {
    return CorruptError("{}: column {}: {}", file->path(), key, decoded.status().text());
  }
  index->info_ = *decoded;
  if (index->info_.row_count != row_count) {
    return CorruptError("{}: column {}: index of {} rows for a chunk of {}", file->path(), key,
                        index->info_.row_count, row_count);
  }
  RETURN_IF_ERROR(index->LoadNodeRows(*file, key));
  if (index->info_.contents == IndexContents::kNothing) {
    return std::shared_ptr<const HnswIndex>(index);
  }
  ASSIGN_OR_RETURN(const std::string quantizer, ReadWhole(*file, kQuantizerSection, key));
  Result<std::shared_ptr<const Quantizer>> read = Quantizer::Decode(quantizer);
  if (!read.ok()) {
    return CorruptError("{}: column {}: {}", file->path(), key, read.status().text());
  }
  index->quantizer_ = *read;
  if (index->quantizer_->code_bytes() != index->info_.code_bytes ||
      index->quantizer_->options().dims != column.knn->dims) {
    return CorruptError("{}: column {}: the quantiser is another column's", file->path(), key);
  }
  RETURN_IF_ERROR(index->LoadNodes(*file, key));
  if (index->info_.contents == IndexContents::kGraph) {
    RETURN_IF_ERROR(index->LoadUpperLevels(*file, key));
    RETURN_IF_ERROR(index->FindDuplicateNodes());
  }
  return std::shared_ptr<const HnswIndex>(index);
}

HnswIndex::~HnswIndex() {
  if (memory_ != nullptr) {
    memory_->GiveBack(taken_);
  }
}

Status HnswIndex::LoadNodeRows(const OpenSectionFile& file, uint32_t key) {
  if (!file.Has(kNodeRowsSection, key)) {
    if (info_.node_count != info_.row_count && info_.contents != IndexContents::kNothing) {
      return CorruptError("{}: column {}: {} nodes for {} rows without their map", path_, key,
                          info_.node_count, info_.row_count);
    }
    return Status::Ok();
  }
  ASSIGN_OR_RETURN(node_rows_, ReadNumbers(file, kNodeRowsSection, key));
  if (node_rows_.size() != info_.node_count || !std::is_sorted(node_rows_.begin(), node_rows_.end()) ||
      (!node_rows_.empty() && node_rows_.back() >= info_.row_count)) {
    return CorruptError("{}: column {}: the rows of the nodes do not ascend to {}", path_, key,
                        info_.row_count);
  }
  rows_repeat_ = std::adjacent_find(node_rows_.begin(), node_rows_.end()) != node_rows_.end();
  return Status::Ok();
}

Status HnswIndex::LoadNodes(const OpenSectionFile& file, uint32_t key) {
  const NodeLayout layout{
      .most_links = 2 * info_.m, .link_bytes = info_.link_bytes, .code_bytes = info_.code_bytes};
  ASSIGN_OR_RETURN(const SectionBytes nodes, file.Section(kNodesSection, key));
  if (nodes.length() / layout.stride() != info_.node_count || nodes.length() % layout.stride() != 0) {
    return CorruptError("{}: column {}: {} bytes for {} nodes", path_, key, nodes.length(), info_.node_count);
  }
  const uint8_t* base = nullptr;
  const bool can_map = file.mode() == storage::AccessMode::kMmap;
  const bool fits = memory_ == nullptr || memory_->TryTake(nodes.length());
  if (fits || !can_map) {
    taken_ = fits && memory_ != nullptr ? nodes.length() : 0;
    loaded_ = PageBuffer(nodes.length());
    if (loaded_.data() == nullptr) {
      return LimitError("no memory for a vector index of {} bytes", nodes.length());
    }
    RETURN_IF_ERROR(nodes.ReadTo(0, {reinterpret_cast<char*>(loaded_.data()), nodes.length()}));
    base = loaded_.data();
  } else {
    RETURN_IF_ERROR(nodes.Verify(0, nodes.length()));
    nodes.Advise(AccessPattern::kRandom);
    mapped_ = nodes;
    is_mapped_ = true;
    base = reinterpret_cast<const uint8_t*>(nodes.address());
  }
  blocks_ = NodeBlocks(base, info_.node_count, layout);
  return Status::Ok();
}

Status HnswIndex::LoadUpperLevels(const OpenSectionFile& file, uint32_t key) {
  upper_.m = info_.m;
  upper_.entry = info_.upper_entry;
  upper_.entry_node = info_.entry_node;
  ASSIGN_OR_RETURN(upper_.nodes, ReadNumbers(file, kUpperNodesSection, key));
  ASSIGN_OR_RETURN(upper_.starts, ReadNumbers(file, kUpperStartsSection, key));
  ASSIGN_OR_RETURN(upper_.lists, ReadNumbers(file, kUpperListsSection, key));
  if (!upper_.IsSound(info_.node_count)) {
    return CorruptError("{}: column {}: the upper levels of the graph lead out of it", path_, key);
  }
  return Status::Ok();
}

Status HnswIndex::FindDuplicateNodes() {
  std::vector<bool> follows(info_.node_count);  // another one
  uint32_t followers = 0;
  for (uint32_t node = 0; node < info_.node_count; ++node) {
    const uint32_t next = blocks_.NextDuplicate(node);
    if (next == Graph::kNone) {
      continue;
    }
    if (follows[next]) {
      return CorruptError("{}: two chains of equal nodes lead to node {}", path_, next);
    }
    follows[next] = true;
    ++followers;
  }
  duplicates_.reserve(followers);
  for (uint32_t node = 0; followers > 0 && node < info_.node_count; ++node) {
    if (follows[node]) {
      continue;
    }
    for (uint32_t next = blocks_.NextDuplicate(node); next != Graph::kNone;
         next = blocks_.NextDuplicate(next)) {
      duplicates_.emplace_back(next, node);
    }
  }
  // Every chain has been followed from its head; what is left goes round.
  return duplicates_.size() == followers
             ? Status::Ok()
             : CorruptError("{}: a chain of equal nodes leads in a circle", path_);
}

uint64_t HnswIndex::ram_bytes() const {
  return (is_mapped_ ? 0 : loaded_.bytes()) +
         sizeof(uint32_t) * (node_rows_.size() + upper_.nodes.size() + upper_.starts.size() +
                             upper_.lists.size() + 2 * duplicates_.size());
}

Status HnswIndex::CheckReadable() const { return is_mapped_ ? mapped_.CheckReadable() : Status::Ok(); }

Status HnswIndex::Check() const {
  if (info_.contents != IndexContents::kGraph) {
    return Status::Ok();
  }
  for (uint32_t node = 0; node < info_.node_count; ++node) {
    for (uint32_t i = 0; i < blocks_.Degree(node); ++i) {
      if (blocks_.LinkAt(node, i) >= info_.node_count) {
        return CorruptError("{}: node {} of {} links to node {}", path_, node, info_.node_count,
                            blocks_.LinkAt(node, i));
      }
    }
  }
  return CheckReadable();
}

}  // namespace stoa::knn
