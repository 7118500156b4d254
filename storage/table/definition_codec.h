#pragma once

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/result.h"
#include "storage/schema.h"

namespace stoa::storage {

// A definition as it lies in the manifest and in the headers of chunks (docs/format/manifest.md).
void EncodeDefinition(const TableDefinition& definition, ByteWriter& writer);
// kCorrupt with the offset in the reader's bytes.
Result<TableDefinition> DecodeDefinition(ByteReader& reader);

}  // namespace stoa::storage
