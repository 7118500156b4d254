#include "storage/format/versions.h"

namespace stoa::storage {

Status CheckVersion(const FormatVersions& format, uint32_t found, std::string_view path) {
  if (found < format.oldest_readable) {
    return UnsupportedError("{}: {} of format version {} is too old, this program reads {} to {}", path,
                            format.kind, found, format.oldest_readable, format.current);
  }
  if (found > format.current) {
    return UnsupportedError("{}: {} of format version {} is too new, this program reads {} to {}", path,
                            format.kind, found, format.oldest_readable, format.current);
  }
  return Status::Ok();
}

}  // namespace stoa::storage
