#!/bin/bash
# Every C++ file is formatted as .clang-format says; names the files that are not.
cd "$(dirname "$0")/../.." || exit 1
bad=0
while IFS= read -r -d '' file; do
  if ! clang-format-16 "$file" | cmp -s - "$file"; then
    echo "$file: not formatted (clang-format-16 -i $file)"
    bad=1
  fi
done < <(git ls-files -z '*.h' '*.cpp')
[ "$bad" -eq 0 ] && echo "format: ok"
exit "$bad"
