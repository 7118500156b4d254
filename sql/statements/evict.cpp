#include "sql/statements/statements.h"
#include "storage/chunk/evict_vectors.h"

// DEBUG EVICT VECTORS.
namespace stoa::sql {

Status ExecuteEvict(const EvictStatement& statement, StatementContext& context) {
  RETURN_IF_ERROR(RequireRealTime("DEBUG EVICT VECTORS", statement.table, context));
  std::vector<std::vector<Value>> rows;
  for (const storage::EvictedFile& file :
       storage::EvictVectors(*context.FindTable(statement.table)->Snapshot())) {
    rows.push_back({Value::String(file.path), Value::Int(static_cast<int64_t>(file.bytes)),
                    Value::Int(static_cast<int64_t>(file.resident_pages))});
  }
  return SendRows(context, {"file", "bytes", "resident_pages"}, rows);
}

}  // namespace stoa::sql
