#include "sql/expr/tags.h"

#include <algorithm>

#include "sql/expr/collation.h"
#include "sql/expr/operand.h"

namespace stoa::sql {
namespace {

class TagTestExpr : public Expr {
 public:
  TagTestExpr(SharedExpr text, std::vector<std::string> wanted, bool all, Collation collation)
      : Expr(ValueType::kInt),
        text_(std::move(text)),
        wanted_(std::move(wanted)),
        all_(all),
        collation_(collation) {}

  Status Evaluate(Batch& batch, Vector& out) const override {
    Vector scratch;
    ASSIGN_OR_RETURN(const Vector* in, ReadOperand(*text_, batch, scratch));
    out.Reset(type(), in->size());
    const auto passes = [this](std::string_view text) {
      const auto has = [&](const std::string& word) { return HasWord(text, word); };
      return all_ ? std::ranges::all_of(wanted_, has) : std::ranges::any_of(wanted_, has);
    };
    std::ranges::transform(in->texts(), out.ints().begin(),
                           [&](std::string_view text) { return passes(text) ? 1 : 0; });
    CopyNulls(*in, out);
    return Status::Ok();
  }

 private:
  bool HasWord(std::string_view text, std::string_view wanted) const {
    for (size_t at = text.find_first_not_of(' '); at != std::string_view::npos;) {
      const size_t end = std::min(text.find(' ', at), text.size());
      if (EqualStrings(collation_, text.substr(at, end - at), wanted)) {
        return true;
      }
      at = text.find_first_not_of(' ', end);
    }
    return false;
  }

  SharedExpr text_;
  std::vector<std::string> wanted_;
  bool all_;
  Collation collation_;
};

}  // namespace

SharedExpr MakeTagTest(SharedExpr text, std::vector<std::string> wanted, bool all, Collation collation) {
  return std::make_shared<TagTestExpr>(std::move(text), std::move(wanted), all, collation);
}

}  // namespace stoa::sql
