#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz_sections.h"
#include "storage/base/crc32c.h"
#include "storage/base/memory_env.h"
#include "storage/format/open_section_file.h"
#include "storage/format/section_file.h"
#include "storage/format/section_table.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

constexpr SectionFileKind kKind{{'T', 'E', 'S', 'T'},
                                {.kind = "test file", .oldest_readable = 1, .current = 1}};

template <typename T>
T Take(std::string_view& input) {
  T value{};
  const size_t count = std::min(sizeof(T), input.size());
  std::copy_n(input.data(), count, reinterpret_cast<char*>(&value));
  input.remove_prefix(count);
  return value;
}

void ReadEverywhere(const SectionBytes& section) {
  const uint64_t length = section.length();
  ReadBuffer buffer;
  const ByteRange ranges[] = {
      {length / 2, length - length / 2}, {0, std::min<uint64_t>(length, 1)}, {length, 0}};
  std::string_view out[3];
  section.WillNeed(ranges);
  (void)section.Verify(0, length);
  (void)section.ReadBatch(ranges, out, buffer);
  SectionCursor cursor(section);
  for (uint64_t offset = 0; offset < length; offset += 1 + length / 3) {
    (void)cursor.At(offset, std::min<uint64_t>(100, length - offset));
  }
  Require(!section.Read(length, 1, buffer).ok());
}

// Both modes and the other reader agree on what is in order.
void Load(MemoryEnv& env) {
  bool readable[2] = {};
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    const auto file = OpenSectionFile::Open(env, "/d/a", kKind, mode);
    if (!file.ok()) {
      continue;
    }
    for (const SectionEntry& entry : file.value()->sections()) {
      ReadEverywhere(file.value()->Section(entry.kind, entry.key).value());
    }
    readable[mode == AccessMode::kFile ? 1 : 0] = file.value()->CheckAll(false).ok();
  }
  Require(readable[0] == readable[1]);
  const auto reader = SectionFileReader::Open(env, "/d/a", kKind);
  Require(reader.ok() || !readable[0]);
  if (reader.ok()) {
    for (const SectionEntry& entry : reader->sections()) {
      Require(reader->Read(entry).ok() || !readable[0]);
    }
  }
}

// Header, table and trailer as a writer would make them, around bytes and entries of the input.
void LoadFramed(MemoryEnv& env, std::string_view input) {
  std::vector<SectionEntry> sections(Take<uint8_t>(input) % 4);
  for (SectionEntry& section : sections) {
    section.kind = Take<uint8_t>(input) % 4;
    section.offset = uint64_t{Take<uint16_t>(input)} * 64;
    section.length = Take<uint8_t>(input) == 255 ? Take<uint64_t>(input) : Take<uint16_t>(input);
    section.crc = Take<uint32_t>(input);
    const uint8_t page_bits = Take<uint8_t>(input) % 32;
    section.page_size = page_bits == 0 ? kWholeSection : uint32_t{1} << page_bits;
  }
  std::string bytes = EncodeSectionHeader(kKind, 1);
  bytes += input;
  for (SectionEntry& section : sections) {
    if (section.page_size == kWholeSection && section.offset <= bytes.size() && section.crc % 2 == 0) {
      section.crc = Crc32c(std::string_view(bytes).substr(section.offset, section.length));
    }
  }
  bytes += EncodeSectionTable(sections, bytes.size());
  if (WriteFileAtomically(env, "/d/a", bytes).ok()) {
    Load(env);
  }
}

// What was written is read back; a changed byte is not.
void RoundTrip(MemoryEnv& env, std::string_view input) {
  const uint16_t damaged_at = Take<uint16_t>(input);
  auto file = env.Create("/d/a").value();
  SectionFileWriter writer(*file, kKind, 1);
  std::vector<std::string_view> written;
  while (input.size() >= 4 && written.size() < 8) {
    const uint8_t form = Take<uint8_t>(input);
    const SectionLayout layout{.alignment = 64u << form % 7,
                               .page_size = form < 128 ? kWholeSection : 4096u << form / 8 % 4};
    const uint16_t length = Take<uint16_t>(input);
    const std::string_view bytes = input.substr(0, length);
    (void)writer.BeginSection(1, static_cast<uint32_t>(written.size()), layout);
    (void)writer.AppendToSection(bytes.substr(0, bytes.size() / 3));
    (void)writer.AppendToSection(bytes.substr(bytes.size() / 3));
    (void)writer.EndSection();
    written.push_back(bytes);
    input.remove_prefix(std::min(bytes.size(), input.size()));
  }
  Require(writer.Finish().ok());
  const auto open = OpenSectionFile::Open(env, "/d/a", kKind, AccessMode::kFile).value();
  for (size_t i = 0; i < written.size(); ++i) {
    ReadBuffer buffer;
    const SectionBytes section = open->Section(1, static_cast<uint32_t>(i)).value();
    Require(section.Read(0, section.length(), buffer).value() == written[i]);
  }
  Require(open->CheckAll(false).ok());
  std::string bytes = env.ReadFile("/d/a").value();
  char& damaged = bytes[damaged_at % bytes.size()];
  damaged = static_cast<char>(damaged ^ 1);
  Require(WriteFileAtomically(env, "/d/a", bytes).ok());
  const auto reopened = OpenSectionFile::Open(env, "/d/a", kKind, AccessMode::kMmap);
  Require(!reopened.ok() || !reopened.value()->CheckAll(false).ok());
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
    if (WriteFileAtomically(env, "/d/a", input).ok()) {
      Load(env);
    }
  } else if (data[0] % 3 == 1) {
    LoadFramed(env, input);
  } else {
    RoundTrip(env, input);
  }
  return 0;
}
