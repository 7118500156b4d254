#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/env.h"
#include "storage/base/ids.h"
#include "storage/base/result.h"
#include "storage/format/section_file.h"

namespace stoa::storage {

// What the delete maps and patch overlays of a chunk have in common: files that come in generations, are
// small enough to be read whole, and start with the same information.

// "<folder>/chunk.7.spm.3"; `suffix` is "spm" or "spu".
std::string GenerationPath(const std::string& folder, ChunkId chunk, std::string_view suffix,
                           uint64_t generation);

// Gives a file that was written under the name `path`.tmp the name `path`. When writing failed, or renaming
// does, the temporary file is removed and the error is returned.
Status NameFile(Env& env, const Status& written, const std::string& path);

// First section of the file: generation u64, then how many rows or values the file has, u64.
inline constexpr uint32_t kGenerationInfoSection = 1;
Status AddGenerationInfo(SectionFileWriter& file, uint64_t generation, uint64_t items);

// Opens the file and checks that it is of the chunk and generation the manifest says.
struct GenerationFile {
  SectionFileReader reader;
  uint64_t items = 0;
};
Result<GenerationFile> OpenGenerationFile(Env& env, const std::string& path, const SectionFileKind& kind,
                                          ChunkId chunk, uint64_t generation);

}  // namespace stoa::storage
