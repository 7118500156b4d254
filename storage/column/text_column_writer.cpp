#include <algorithm>
#include <deque>
#include <unordered_map>
#include <vector>

#include "storage/column/number_column.h"
#include "storage/column/text_column.h"
#include "storage/column/text_format.h"

namespace stoa::storage {
namespace {

constexpr uint64_t kMaxDictionaryTexts = 262'144;
constexpr uint64_t kMaxDictionaryBytes = 64u << 20;
// When so many of the first rows are distinct, the rest is not looked at.
constexpr uint64_t kSampleRows = 131'072;
constexpr uint64_t kMaxSampleTexts = kSampleRows / 20 * 19;
constexpr uint32_t kMaxHashesInMemory = 2u << 20;
constexpr SectionLayout kHashLayout{.alignment = 64, .page_size = kDefaultPage};

struct TextHash {
  size_t operator()(std::string_view text) const { return HashOfText(text); }
};

// Distinct texts and their codes.
class TextCounter {
 public:
  // False when a dictionary does not pay; what has been counted is then let go.
  Result<bool> Count(ColumnInput& input) {
    const uint64_t most = std::min<uint64_t>(kMaxDictionaryTexts, input.row_count() / 2);
    uint64_t rows = 0;
    RETURN_IF_ERROR(input.Rewind());
    while (true) {
      ASSIGN_OR_RETURN(const ColumnValues* values, input.Next());
      if (values == nullptr) {
        break;
      }
      for (size_t row = 0; row < values->size(); ++row, ++rows) {
        Add(values->BytesAt(row));
        if (texts_.size() > most || bytes_ > kMaxDictionaryBytes ||
            (rows == kSampleRows && texts_.size() > kMaxSampleTexts)) {
          codes_.clear();
          texts_.clear();
          return false;
        }
      }
    }
    Sort();
    return !texts_.empty();
  }

  // By code.
  const std::vector<std::string_view>& sorted() const { return sorted_; }
  Result<uint32_t> CodeOf(std::string_view text) const {
    const auto found = codes_.find(text);
    if (found == codes_.end()) {
      return InternalError("the values of a column changed while it was written");
    }
    return found->second;
  }

 private:
  void Add(std::string_view text) {
    if (codes_.contains(text)) {
      return;
    }
    bytes_ += text.size();
    codes_.emplace(texts_.emplace_back(text), 0);
  }
  void Sort() {
    sorted_.assign(texts_.begin(), texts_.end());
    std::sort(sorted_.begin(), sorted_.end());
    for (uint32_t code = 0; code < sorted_.size(); ++code) {
      codes_[sorted_[code]] = code;
    }
  }

  std::deque<std::string> texts_;  // stable addresses
  std::unordered_map<std::string_view, uint32_t, TextHash> codes_;
  std::vector<std::string_view> sorted_;
  uint64_t bytes_ = 0;
};

// The rows of a text column as codes.
class CodeInput : public ColumnInput {
 public:
  CodeInput(ColumnInput& input, const TextCounter& texts) : input_(input), texts_(texts) {}

  uint32_t row_count() const override { return input_.row_count(); }
  Status Rewind() override { return input_.Rewind(); }
  Result<const ColumnValues*> Next() override {
    ASSIGN_OR_RETURN(const ColumnValues* values, input_.Next());
    if (values == nullptr) {
      return values;
    }
    codes_.column = values->column;
    codes_.type = ColumnType::kInt;
    codes_.ints.clear();
    for (size_t row = 0; row < values->size(); ++row) {
      ASSIGN_OR_RETURN(const uint32_t code, texts_.CodeOf(values->BytesAt(row)));
      codes_.ints.push_back(code);
    }
    return &codes_;
  }

 private:
  ColumnInput& input_;
  const TextCounter& texts_;
  ColumnValues codes_;
};

Status WriteDictionary(const TextCounter& texts, SectionFileWriter& file, uint32_t key) {
  ByteBlocksWriter writer(file, TextSections(key));
  RETURN_IF_ERROR(writer.Begin());
  const std::vector<std::string_view>& sorted = texts.sorted();
  for (size_t first = 0; first < sorted.size(); first += kBlockRows) {
    ColumnValues block;
    for (size_t i = first; i < std::min<size_t>(first + kBlockRows, sorted.size()); ++i) {
      block.AppendBytes(sorted[i]);
    }
    RETURN_IF_ERROR(writer.Append(block.offsets, block.bytes));
  }
  return writer.Finish();
}

void AppendHashes(const ColumnValues& values, std::string& hashes) {
  for (size_t row = 0; row < values.size(); ++row) {
    const uint64_t hash = HashOfText(values.BytesAt(row));
    hashes.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  }
}

// `hashes`: of all texts, nullptr when they are not wanted.
Status WritePlain(ColumnInput& input, SectionFileWriter& file, uint32_t key, std::string* hashes) {
  ByteBlocksWriter writer(file, TextSections(key));
  RETURN_IF_ERROR(writer.Begin());
  RETURN_IF_ERROR(input.Rewind());
  while (true) {
    ASSIGN_OR_RETURN(const ColumnValues* values, input.Next());
    if (values == nullptr) {
      return writer.Finish();
    }
    if (hashes != nullptr) {
      AppendHashes(*values, *hashes);
    }
    RETURN_IF_ERROR(writer.Append(values->offsets, values->bytes));
  }
}

// Reads the texts once more: there are too many to keep their hashes.
Status WriteHashes(ColumnInput& input, SectionFileWriter& file, uint32_t key) {
  RETURN_IF_ERROR(file.BeginSection(static_cast<uint32_t>(SpcSection::kHashes), key, kHashLayout));
  RETURN_IF_ERROR(input.Rewind());
  while (true) {
    ASSIGN_OR_RETURN(const ColumnValues* values, input.Next());
    if (values == nullptr) {
      return file.EndSection();
    }
    std::string hashes;
    AppendHashes(*values, hashes);
    RETURN_IF_ERROR(file.AppendToSection(hashes));
  }
}

Status WritePlainAndHashes(ColumnInput& input, SectionFileWriter& file, uint32_t key) {
  if (input.row_count() > kMaxHashesInMemory) {
    RETURN_IF_ERROR(WritePlain(input, file, key, nullptr));
    return WriteHashes(input, file, key);
  }
  std::string hashes;
  RETURN_IF_ERROR(WritePlain(input, file, key, &hashes));
  return file.AddSection(static_cast<uint32_t>(SpcSection::kHashes), key, hashes, kHashLayout);
}

}  // namespace

Status WriteTextColumn(const ColumnDefinition& column, ColumnInput& input, SectionFileWriter& file) {
  const uint32_t key = column.id.value;
  TextCounter texts;
  ASSIGN_OR_RETURN(const bool dictionary, texts.Count(input));
  TextInfo info{.form = dictionary ? TextForm::kDictionary : TextForm::kPlain,
                .hashes = !dictionary && column.hash,
                .rows = input.row_count()};
  RETURN_IF_ERROR(file.AddSection(static_cast<uint32_t>(SpcSection::kTextInfo), key, info.Encode()));
  if (dictionary) {
    RETURN_IF_ERROR(WriteDictionary(texts, file, key));
    CodeInput codes(input, texts);
    RETURN_IF_ERROR(codes.Rewind());
    return WriteNumbers(ColumnType::kInt, codes, file, key);
  }
  return info.hashes ? WritePlainAndHashes(input, file, key) : WritePlain(input, file, key, nullptr);
}

}  // namespace stoa::storage
