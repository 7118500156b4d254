#include <re2/re2.h>

#include <algorithm>

#include "sql/expr/functions/function.h"
#include "sql/expr/functions/options.h"
#include "sql/expr/functions/utf8.h"

// regex() and levenshtein().
namespace stoa::sql {
namespace {

// regex(s, 'expression'): whether RE2 finds the expression in the text; 0 for NULL.
Result<SharedExpr> BindRegex(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindTexts(call, scope, 1));
  ASSIGN_OR_RETURN(Value pattern, ConstantArgument(call, 1, scope));
  if (!IsText(pattern.type)) {
    return FunctionError(scope, "regex() needs its expression as a text");
  }
  RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_shared<const RE2>(pattern.bytes, options);
  if (!regex->ok()) {
    return FunctionError(scope, fmt::format("regex() cannot use '{}': {}", pattern.bytes, regex->error()));
  }
  return MakeKernel(
      ValueType::kInt, std::move(args),
      [regex = std::move(regex)](const KernelInputs& in, Vector& out) {
        for (size_t row = 0; row < out.size(); ++row) {
          std::string_view text = in[0].texts()[row];
          bool found =
              !in[0].IsNull(row) && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *regex);
          out.ints()[row] = found ? 1 : 0;
        }
      },
      NullRule::kKernelDecides);
}

// Longer texts are compared by their beginning: the work grows with the product of both lengths.
constexpr size_t kMostCharacters = 4096;

// Edits between texts of code points; keeps its memory from row to row.
class EditDistance {
 public:
  size_t longer() const { return std::max(a_.size(), b_.size()); }
  size_t difference() const { return longer() - std::min(a_.size(), b_.size()); }

  void Set(std::string_view a, std::string_view b) {
    Decode(a, a_);
    Decode(b, b_);
  }

  size_t Compute() {
    std::span<const char32_t> a = a_;
    std::span<const char32_t> b = b_;
    auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    auto same = static_cast<size_t>(ends.first - a.begin());
    a = a.subspan(same);
    b = b.subspan(same);
    row_.resize(b.size() + 1);
    for (size_t j = 0; j < row_.size(); ++j) {
      row_[j] = j;
    }
    for (size_t i = 0; i < a.size(); ++i) {
      size_t diagonal = row_[0];
      row_[0] = i + 1;
      for (size_t j = 0; j < b.size(); ++j) {
        size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
        diagonal = row_[j + 1];
        row_[j + 1] = std::min(replace, std::min(row_[j], row_[j + 1]) + 1);
      }
    }
    return row_.back();
  }

 private:
  static void Decode(std::string_view text, std::vector<char32_t>& out) {
    DecodeCharacters(text.substr(0, kMostCharacters * 4), out);
    out.resize(std::min(out.size(), kMostCharacters));
  }

  std::vector<char32_t> a_;
  std::vector<char32_t> b_;
  std::vector<size_t> row_;
};

// levenshtein(a, b[, {normalize=1, length_delta=n}]): edits from a to b; normalised, divided by the longer
// length. When the lengths differ by more than length_delta (0: no limit), the longer length is the answer.
Result<SharedExpr> BindLevenshtein(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindTexts(call, scope, 2));
  ASSIGN_OR_RETURN(FunctionOptions options,
                   FunctionOptions::ReadOptional(call, 2, {"normalize", "length_delta"}, scope));
  const Value* normalize = options.Find("normalize");
  const Value* delta = options.Find("length_delta");
  int64_t limit = delta != nullptr ? IntegerOf(*delta) : 0;
  if (limit < 0) {
    return FunctionError(scope, "length_delta of levenshtein() must not be below 0");
  }
  auto edits = [limit = static_cast<size_t>(limit)](EditDistance& distance, const KernelInputs& in,
                                                    size_t row) {
    distance.Set(in[0].texts()[row], in[1].texts()[row]);
    return limit > 0 && distance.difference() > limit ? distance.longer() : distance.Compute();
  };
  if (normalize == nullptr || IntegerOf(*normalize) == 0) {
    return MakeKernel(ValueType::kInt, std::move(args), [edits](const KernelInputs& in, Vector& out) {
      EditDistance distance;
      for (size_t row = 0; row < out.size(); ++row) {
        out.ints()[row] = static_cast<int64_t>(edits(distance, in, row));
      }
    });
  }
  return MakeKernel(ValueType::kDouble, std::move(args), [edits](const KernelInputs& in, Vector& out) {
    EditDistance distance;
    for (size_t row = 0; row < out.size(); ++row) {
      auto count = static_cast<double>(edits(distance, in, row));
      out.reals()[row] = distance.longer() == 0 ? 0 : count / static_cast<double>(distance.longer());
    }
  });
}

constexpr FunctionEntry kFunctions[] = {
    {"regex", 2, 2, BindRegex},
    {"levenshtein", 2, 3, BindLevenshtein},
};

}  // namespace

std::span<const FunctionEntry> TextSearchFunctions() { return kFunctions; }

}  // namespace stoa::sql
