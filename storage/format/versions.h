#pragma once

#include <cstdint>
#include <string_view>

#include "storage/base/status.h"

namespace stoa::storage {

// The versions of one kind of file that this program reads; it writes `current`.
struct FormatVersions {
  std::string_view kind;
  uint32_t oldest_readable;
  uint32_t current;
};

inline constexpr FormatVersions kBinlogFormat{.kind = "binlog segment", .oldest_readable = 1, .current = 1};
inline constexpr FormatVersions kManifestFormat{
    .kind = "catalog manifest", .oldest_readable = 1, .current = 2};
inline constexpr FormatVersions kRamFormat{.kind = "RAM part file", .oldest_readable = 1, .current = 1};
inline constexpr FormatVersions kDeleteMapFormat{.kind = "delete map", .oldest_readable = 1, .current = 1};
inline constexpr FormatVersions kPatchOverlayFormat{
    .kind = "patch overlay", .oldest_readable = 1, .current = 1};
inline constexpr FormatVersions kDocumentIndexFormat{
    .kind = "document index", .oldest_readable = 1, .current = 1};
inline constexpr FormatVersions kRowwiseFormat{
    .kind = "row-wise attribute file", .oldest_readable = 1, .current = 1};
inline constexpr FormatVersions kBlobFormat{
    .kind = "row-wise value file", .oldest_readable = 1, .current = 1};
inline constexpr FormatVersions kDocstoreFormat{.kind = "docstore file", .oldest_readable = 1, .current = 1};

inline constexpr FormatVersions kChunkHeaderFormat{
    .kind = "header of a chunk", .oldest_readable = 1, .current = 2};
inline constexpr FormatVersions kColumnarFormat{.kind = "columnar file", .oldest_readable = 1, .current = 1};

// kUnsupported for a file that is too old or too new, with what was found and what is supported.
Status CheckVersion(const FormatVersions& format, uint32_t found, std::string_view path);

}  // namespace stoa::storage
