#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/memory_env.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"

// What the fuzzers of files share: the input piece by piece, and the sections of a sound file, which are
// changed as the input says and framed again with right checksums.

namespace stoa {

inline void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

// Takes a length byte and so many bytes off the front.
inline std::string_view TakePiece(std::string_view& input) {
  if (input.empty()) {
    return {};
  }
  const size_t length = std::min<size_t>(static_cast<uint8_t>(input[0]), input.size() - 1);
  const std::string_view taken = input.substr(1, length);
  input.remove_prefix(1 + length);
  return taken;
}

// Bytes of the input; zeros behind its end.
class FuzzInput {
 public:
  explicit FuzzInput(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  std::string_view rest() const { return bytes_; }
  uint32_t Take(size_t bytes) {
    uint32_t value = 0;
    for (size_t i = 0; i < bytes && !bytes_.empty(); ++i) {
      value = value << 8 | static_cast<uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
    }
    return value;
  }

 private:
  std::string_view bytes_;
};

struct FuzzSection {
  storage::SectionEntry entry;
  std::string bytes;
};

// Of a file that is sound.
inline std::vector<FuzzSection> ReadSections(Env& env, const std::string& path,
                                             const storage::SectionFileKind& kind) {
  const auto file = storage::OpenSectionFile::Open(env, path, kind, storage::AccessMode::kMmap);
  Require(file.ok());
  std::vector<FuzzSection> sections;
  for (const storage::SectionEntry& entry : (*file)->sections()) {
    const auto section = (*file)->Section(entry.kind, entry.key);
    Require(section.ok());
    storage::ReadBuffer buffer;
    const auto bytes = section->Read(0, section->length(), buffer);
    Require(bytes.ok());
    sections.push_back({entry, std::string(*bytes)});
  }
  return sections;
}

inline void Damage(std::vector<FuzzSection>& sections, FuzzInput& input) {
  while (!input.done() && !sections.empty()) {
    FuzzSection& section = sections[input.Take(1) % sections.size()];
    const uint32_t what = input.Take(1);
    if (what == 255) {
      section.bytes.resize(section.bytes.size() - std::min<size_t>(section.bytes.size(), input.Take(1)));
    } else if (what == 254) {
      section.bytes.append(input.Take(1), '\1');
    } else if (!section.bytes.empty()) {
      const uint32_t offset = what < 200 ? what : input.Take(3);
      section.bytes[offset % section.bytes.size()] = static_cast<char>(input.Take(1));
    }
  }
}

inline void WriteSections(Env& env, const std::string& path, const storage::SectionFileKind& kind,
                          uint64_t owner, const std::vector<FuzzSection>& sections) {
  auto file = env.Create(path);
  Require(file.ok());
  storage::SectionFileWriter writer(**file, kind, owner);
  for (const FuzzSection& section : sections) {
    const storage::SectionLayout layout{.alignment = section.entry.offset % 4096 == 0 ? 4096u : 64u,
                                        .page_size = section.entry.page_size};
    Require(writer.AddSection(section.entry.kind, section.entry.key, section.bytes, layout).ok());
  }
  Require(writer.Finish().ok() && (*file)->Close().ok());
}

}  // namespace stoa
