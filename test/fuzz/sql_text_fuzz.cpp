#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sql/parser/parser.h"
#include "sql/sql_error.h"

// Any bytes as a batch of statements: no crash, no hang, no endless recursion; an error text of at most 512
// bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view statement : stoa::sql::SplitStatements(text)) {
    const auto count = stoa::sql::CountParameters(statement);
    auto parsed = stoa::sql::ParseStatement(statement);
    if (!parsed.ok() && stoa::sql::ErrorText(parsed.status()).size() > 512) {
      __builtin_trap();
    }
    if (count.ok() && *count > 0 && *count < 100) {
      std::vector<stoa::sql::Value> values(*count, stoa::sql::Value::String("1, -2.5"));
      values.front() = stoa::sql::Value::Bigint(-7);
      (void)stoa::sql::ParseStatement(statement, values).ok();
    }
  }
  return 0;
}
