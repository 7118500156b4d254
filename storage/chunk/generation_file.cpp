#include "storage/chunk/generation_file.h"

#include <fmt/format.h>

#include <utility>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/log.h"
#include "storage/chunk/disk_chunk.h"

namespace stoa::storage {
namespace {

Result<uint64_t> ReadInfo(const SectionFileReader& file, ChunkId chunk, uint64_t generation) {
  if (file.owner() != chunk.value) {
    return CorruptError("{}: is of chunk {}, not {}", file.path(), file.owner(), chunk.value);
  }
  if (file.sections().empty() || file.sections()[0].kind != kGenerationInfoSection) {
    return CorruptError("{}: the first section is not the information", file.path());
  }
  const Result<std::string> bytes = file.Read(file.sections()[0]);
  RETURN_IF_ERROR(bytes.status());
  ByteReader reader(*bytes, file.sections()[0].offset);
  ASSIGN_OR_RETURN(const uint64_t found, reader.Read<uint64_t>());
  ASSIGN_OR_RETURN(const uint64_t items, reader.Read<uint64_t>());
  if (!reader.done()) {
    return CorruptError("{}: information of {} bytes", file.path(), bytes->size());
  }
  if (found != generation) {
    return CorruptError("{}: is of generation {}, not {}", file.path(), found, generation);
  }
  return items;
}

}  // namespace

std::string GenerationPath(const std::string& folder, ChunkId chunk, std::string_view suffix,
                           uint64_t generation) {
  return folder + "/" + ChunkFileName(chunk, fmt::format("{}.{}", suffix, generation));
}

Status NameFile(Env& env, const Status& written, const std::string& path) {
  const std::string temporary = path + ".tmp";
  const Status status = written.ok() ? env.Rename(temporary, path) : written;
  if (!status.ok()) {
    if (const Status removed = env.Remove(temporary); !removed.ok() && env.Exists(temporary)) {
      LogWarning("{}", removed.text());
    }
  }
  return status;
}

Status AddGenerationInfo(SectionFileWriter& file, uint64_t generation, uint64_t items) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Write<uint64_t>(generation);
  writer.Write<uint64_t>(items);
  return file.AddSection(kGenerationInfoSection, 0, bytes);
}

Result<GenerationFile> OpenGenerationFile(Env& env, const std::string& path, const SectionFileKind& kind,
                                          ChunkId chunk, uint64_t generation) {
  ASSIGN_OR_RETURN(SectionFileReader reader, SectionFileReader::Open(env, path, kind));
  ASSIGN_OR_RETURN(const uint64_t items, ReadInfo(reader, chunk, generation));
  return GenerationFile{std::move(reader), items};
}

}  // namespace stoa::storage
