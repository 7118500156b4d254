#include <atomic>

#include "sql/expr/functions/function.h"

// What a session says about itself.
namespace stoa::sql {
namespace {

Result<SharedExpr> BindLastInsertId(const ParsedExpr&, NameScope& scope) {
  return MakeConstant(Value::String(scope.context().last_insert_id));
}

Result<SharedExpr> BindConnectionId(const ParsedExpr&, NameScope& scope) {
  uint64_t id = scope.context().connection_id;
  return MakeConstant(id <= 0xffffffffu ? Value::Int(static_cast<int64_t>(id)) : Value::Uint64(id));
}

Result<SharedExpr> BindDatabase(const ParsedExpr&, NameScope&) {
  return MakeConstant(Value::String("Manticore"));
}

Result<SharedExpr> BindUser(const ParsedExpr&, NameScope& scope) {
  return MakeConstant(Value::String(scope.context().user));
}

Result<SharedExpr> BindVersion(const ParsedExpr&, NameScope& scope) {
  return MakeConstant(Value::String(scope.context().version));
}

// The next number for each row; threads that share the expression share the sequence.
class UuidExpr final : public Expr {
 public:
  explicit UuidExpr(uint64_t seed) : Expr(ValueType::kBigint), next_(seed) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    out.Reset(type(), batch.size());
    uint64_t next = next_.fetch_add(batch.size(), std::memory_order_relaxed);
    for (int64_t& value : out.ints()) {
      value = static_cast<int64_t>(next++ & 0x7fffffffffffffffu);
    }
    return Status::Ok();
  }

 private:
  mutable std::atomic<uint64_t> next_;
};

Result<SharedExpr> BindUuidShort(const ParsedExpr&, NameScope& scope) {
  return SharedExpr(std::make_shared<const UuidExpr>(scope.context().uuid_short_seed));
}

constexpr FunctionEntry kFunctions[] = {
    {"last_insert_id", 0, 0, BindLastInsertId},
    {"connection_id", 0, 0, BindConnectionId},
    {"database", 0, 0, BindDatabase},
    {"schema", 0, 0, BindDatabase},
    {"user", 0, 0, BindUser},
    {"current_user", 0, 0, BindUser},
    {"session_user", 0, 0, BindUser},
    {"system_user", 0, 0, BindUser},
    {"version", 0, 0, BindVersion},
    {"uuid_short", 0, 0, BindUuidShort},
};

}  // namespace

std::span<const FunctionEntry> SessionFunctions() { return kFunctions; }

}  // namespace stoa::sql
