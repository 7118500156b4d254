#include "storage/column/text_column.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "storage/column/number_column.h"
#include "storage/column/text_format.h"
#include "storage/column/text_matcher.h"

namespace stoa::storage {
namespace {

class TextColumn;

// What all readers of a text column share.
struct TextParts {
  std::string path;
  uint32_t key = 0;
  TextInfo info;
  ByteBlocks texts;                    // plain
  std::optional<SectionBytes> hashes;  // plain
  std::unique_ptr<const TextDictionary> dictionary;
  std::shared_ptr<const FileColumn> codes;  // of the dictionary
};

// Rows of a column with a dictionary.
class CodedTextReader : public ColumnReader, public DictionaryReader {
 public:
  CodedTextReader(std::shared_ptr<const FileColumn> column, const TextParts& parts)
      : column_(std::move(column)),
        parts_(parts),
        codes_(parts.codes->NewReader(parts.codes, ColumnType::kInt)) {}

  ColumnType type() const override { return ColumnType::kString; }
  Status ReadInts(std::span<const RowId>, std::span<int64_t>) override {
    return InternalError("a text column has no integers");
  }
  Status ReadFloats(std::span<const RowId>, std::span<float>) override {
    return InternalError("a text column has no floats");
  }
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override {
    read_codes_.resize(rows.size());
    RETURN_IF_ERROR(ReadCodes(rows, read_codes_));
    return parts_.dictionary->Read(read_codes_, values, buffer);
  }
  Status Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) override;

  const TextDictionary& dictionary() const override { return *parts_.dictionary; }
  Status ReadCodes(std::span<const RowId> rows, std::span<uint32_t> codes) override;

 private:
  std::shared_ptr<const FileColumn> column_;
  const TextParts& parts_;
  std::unique_ptr<ColumnReader> codes_;
  std::vector<int64_t> numbers_;
  std::vector<uint32_t> read_codes_;
  // What the predicate means for the codes, kept from block to block.
  Status Prepare(const ColumnPredicate& predicate);
  Result<std::vector<int64_t>> CodesThatPass(const BytesTest& test) const;

  TextMatcher matcher_;
  BytesTest tested_;
  ColumnPredicate on_codes_;
};

Status CodedTextReader::Prepare(const ColumnPredicate& predicate) {
  if (const auto* test = std::get_if<BytesTest>(&predicate.test)) {
    if (tested_.passes != test->passes) {
      ASSIGN_OR_RETURN(std::vector<int64_t> codes, CodesThatPass(*test));
      on_codes_.test = IntSet{std::move(codes)};
      tested_ = *test;
      matcher_ = TextMatcher();
    }
    return Status::Ok();
  }
  const auto* texts = std::get_if<BytesSet>(&predicate.test);
  if (texts == nullptr) {
    return InternalError("a text column is compared with numbers");
  }
  if (matcher_.Prepare(*texts)) {
    tested_ = {};
    auto codes = parts_.dictionary->Find(texts->values);
    if (!codes.ok()) {
      matcher_ = TextMatcher();
      return codes.status();
    }
    on_codes_.test = IntSet{std::move(*codes)};
  }
  return Status::Ok();
}

// Ascending.
Result<std::vector<int64_t>> CodedTextReader::CodesThatPass(const BytesTest& test) const {
  std::vector<int64_t> passing;
  std::vector<uint32_t> codes;
  std::vector<std::string_view> texts;
  for (uint32_t first = 0; first < parts_.dictionary->size(); first += kBlockRows) {
    codes.resize(std::min(kBlockRows, parts_.dictionary->size() - first));
    texts.resize(codes.size());
    std::iota(codes.begin(), codes.end(), first);
    ReadBuffer buffer;
    RETURN_IF_ERROR(parts_.dictionary->Read(codes, texts, buffer));
    for (size_t i = 0; i < codes.size(); ++i) {
      if ((*test.passes)(texts[i])) {
        passing.push_back(codes[i]);
      }
    }
  }
  return passing;
}

Status CodedTextReader::ReadCodes(std::span<const RowId> rows, std::span<uint32_t> codes) {
  numbers_.resize(rows.size());
  RETURN_IF_ERROR(codes_->ReadInts(rows, numbers_));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (std::cmp_less(numbers_[i], 0) || std::cmp_greater_equal(numbers_[i], parts_.dictionary->size())) {
      return CorruptError("{}: column {}: row {}: code {} of a dictionary of {} texts", parts_.path,
                          parts_.key, rows[i].value, numbers_[i], parts_.dictionary->size());
    }
    codes[i] = static_cast<uint32_t>(numbers_[i]);
  }
  return Status::Ok();
}

Status CodedTextReader::Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) {
  RETURN_IF_ERROR(Prepare(predicate));
  const IntSet& codes = std::get<IntSet>(on_codes_.test);
  on_codes_.negated = predicate.negated;
  if (codes.values.empty() || codes.values.size() == parts_.dictionary->size()) {
    if (codes.values.empty() != predicate.negated) {
      bits.fill(0);
    }
    return Status::Ok();
  }
  return codes_->Select(block, on_codes_, bits);
}

// Rows of a column that holds its texts in row order.
class PlainTextReader : public ColumnReader {
 public:
  PlainTextReader(std::shared_ptr<const FileColumn> column, const TextParts& parts)
      : column_(std::move(column)), parts_(parts) {
    if (parts.hashes.has_value()) {
      hashes_.emplace(*parts.hashes);
    }
  }

  ColumnType type() const override { return ColumnType::kString; }
  Status ReadInts(std::span<const RowId>, std::span<int64_t>) override {
    return InternalError("a text column has no integers");
  }
  Status ReadFloats(std::span<const RowId>, std::span<float>) override {
    return InternalError("a text column has no floats");
  }
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override {
    return parts_.texts.Read(rows, values, buffer);
  }
  Status Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) override;

 private:
  Status KeepHashes(uint32_t block, BlockBits& bits);

  std::shared_ptr<const FileColumn> column_;
  const TextParts& parts_;
  std::optional<SectionCursor> hashes_;
  TextMatcher matcher_;
};

// Clears the bits of rows whose hash no text of the predicate has.
Status PlainTextReader::KeepHashes(uint32_t block, BlockBits& bits) {
  const uint64_t first = uint64_t{block} * kBlockRows;
  const uint64_t count = std::min<uint64_t>(kBlockRows, parts_.info.rows - first);
  ASSIGN_OR_RETURN(const std::string_view bytes,
                   hashes_->At(first * sizeof(uint64_t), count * sizeof(uint64_t)));
  BlockBits kept{};
  ForEachBit(bits, [&](uint32_t row) {
    uint64_t hash = 0;
    std::memcpy(&hash, bytes.data() + row * sizeof(hash), sizeof(hash));
    kept[row / 64] |= uint64_t{matcher_.MayHave(hash)} << (row % 64);
  });
  RETURN_IF_ERROR(parts_.hashes->CheckReadable());
  bits = kept;
  return Status::Ok();
}

Status PlainTextReader::Select(uint32_t block, const ColumnPredicate& predicate, BlockBits& bits) {
  if (std::holds_alternative<BytesTest>(predicate.test)) {
    return ColumnReader::Select(block, predicate, bits);
  }
  const BytesSet* texts = std::get_if<BytesSet>(&predicate.test);
  if (texts == nullptr) {
    return InternalError("a text column is compared with numbers");
  }
  const uint64_t first = uint64_t{block} * kBlockRows;
  const uint64_t last_row = first + kBlockRows - 1;
  if (first >= parts_.info.rows) {
    return InternalError("{}: block {} of {} rows", parts_.path, block, parts_.info.rows);
  }
  matcher_.Prepare(*texts);
  for (uint64_t row = parts_.info.rows; row <= last_row; ++row) {
    bits[row % kBlockRows / 64] &= ~(uint64_t{1} << (row % 64));
  }
  BlockBits candidates = bits;
  if (hashes_.has_value()) {
    RETURN_IF_ERROR(KeepHashes(block, candidates));
  }
  std::vector<RowId> rows;
  ForEachBit(candidates, [&](uint32_t row) { rows.emplace_back(static_cast<uint32_t>(first + row)); });
  std::vector<std::string_view> values(rows.size());
  ReadBuffer buffer;
  RETURN_IF_ERROR(ReadBytes(rows, values, buffer));
  BlockBits matches{};
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t row = rows[i].value % kBlockRows;
    matches[row / 64] |= uint64_t{matcher_.Has(values[i])} << (row % 64);
  }
  RETURN_IF_ERROR(parts_.texts.CheckReadable());
  for (size_t word = 0; word < bits.size(); ++word) {
    bits[word] &= predicate.negated ? ~matches[word] : matches[word];
  }
  return Status::Ok();
}

class TextColumn : public FileColumn {
 public:
  explicit TextColumn(TextParts parts) : parts_(std::move(parts)) {}

  ColumnType type() const override { return ColumnType::kString; }
  uint32_t row_count() const override { return parts_.info.rows; }
  uint64_t ram_bytes() const override {
    return parts_.dictionary == nullptr ? parts_.texts.ram_bytes()
                                        : parts_.dictionary->ram_bytes() + parts_.codes->ram_bytes();
  }
  std::unique_ptr<ColumnReader> NewReader(std::shared_ptr<const FileColumn> self, ColumnType) const override {
    if (parts_.dictionary != nullptr) {
      return std::make_unique<CodedTextReader>(std::move(self), parts_);
    }
    return std::make_unique<PlainTextReader>(std::move(self), parts_);
  }
  Status Check() const override;

  const TextParts& parts() const { return parts_; }

 private:
  Status CheckCodes() const;
  Status CheckPlain() const;

  TextParts parts_;
};

Status TextColumn::CheckCodes() const {
  RETURN_IF_ERROR(parts_.dictionary->Check());
  RETURN_IF_ERROR(parts_.codes->Check());
  CodedTextReader reader(nullptr, parts_);
  std::vector<RowId> rows;
  std::vector<uint32_t> codes;
  for (uint64_t first = 0; first < parts_.info.rows; first += kBlockRows) {
    rows.clear();
    for (uint64_t row = first; row < std::min<uint64_t>(first + kBlockRows, parts_.info.rows); ++row) {
      rows.emplace_back(static_cast<uint32_t>(row));
    }
    codes.resize(rows.size());
    RETURN_IF_ERROR(reader.ReadCodes(rows, codes));
  }
  return Status::Ok();
}

Status TextColumn::CheckPlain() const {
  std::optional<SectionCursor> hashes;
  if (parts_.hashes.has_value()) {
    hashes.emplace(*parts_.hashes);
  }
  return parts_.texts.Visit([&](uint32_t first, std::span<const std::string_view> texts) -> Status {
    if (!hashes.has_value()) {
      return Status::Ok();
    }
    ASSIGN_OR_RETURN(const std::string_view bytes,
                     hashes->At(uint64_t{first} * sizeof(uint64_t), texts.size() * sizeof(uint64_t)));
    for (size_t i = 0; i < texts.size(); ++i) {
      uint64_t hash = 0;
      std::memcpy(&hash, bytes.data() + i * sizeof(hash), sizeof(hash));
      if (hash != HashOfText(texts[i])) {
        return parts_.texts.Corrupt(static_cast<uint32_t>(first + i), "it does not have its hash");
      }
    }
    return Status::Ok();
  });
}

Status TextColumn::Check() const { return parts_.dictionary != nullptr ? CheckCodes() : CheckPlain(); }

Status OpenCodes(const std::shared_ptr<const OpenSectionFile>& file, ByteBlocks texts, TextParts& parts) {
  parts.dictionary = std::make_unique<TextDictionary>(std::move(texts));
  ASSIGN_OR_RETURN(parts.codes, OpenNumberColumn(file, ColumnId(parts.key)));
  if (LaneOf(parts.codes->type()) != Lane::kInt || parts.codes->row_count() != parts.info.rows) {
    return CorruptError("{}: column {}: {} codes for {} rows", parts.path, parts.key,
                        parts.codes->row_count(), parts.info.rows);
  }
  return Status::Ok();
}

Status OpenPlain(const OpenSectionFile& file, ByteBlocks texts, TextParts& parts) {
  if (texts.size() != parts.info.rows) {
    return CorruptError("{}: column {}: {} texts for {} rows", parts.path, parts.key, texts.size(),
                        parts.info.rows);
  }
  parts.texts = std::move(texts);
  if (parts.info.hashes) {
    ASSIGN_OR_RETURN(parts.hashes, file.Section(static_cast<uint32_t>(SpcSection::kHashes), parts.key));
    if (parts.hashes->length() != uint64_t{parts.info.rows} * sizeof(uint64_t)) {
      return CorruptError("{}: column {}: {} bytes of hashes for {} rows", parts.path, parts.key,
                          parts.hashes->length(), parts.info.rows);
    }
  }
  return Status::Ok();
}

}  // namespace

Result<std::shared_ptr<const FileColumn>> OpenTextColumn(std::shared_ptr<const OpenSectionFile> file,
                                                         ColumnId column) {
  TextParts parts{.path = file->path(), .key = column.value};
  ASSIGN_OR_RETURN(const std::string info, ReadWholeSection(*file, SpcSection::kTextInfo, parts.key));
  auto decoded = TextInfo::Decode(info);
  if (!decoded.ok()) {
    return decoded.status().WithContext(fmt::format("{}: section {}.{}", parts.path,
                                                    static_cast<uint32_t>(SpcSection::kTextInfo), parts.key));
  }
  parts.info = *decoded;
  ASSIGN_OR_RETURN(ByteBlocks texts, ByteBlocks::Open(*file, TextSections(parts.key)));
  RETURN_IF_ERROR(parts.info.form == TextForm::kDictionary ? OpenCodes(file, std::move(texts), parts)
                                                           : OpenPlain(*file, std::move(texts), parts));
  return std::shared_ptr<const FileColumn>(std::make_shared<TextColumn>(std::move(parts)));
}

std::unique_ptr<DictionaryReader> NewDictionaryReader(const std::shared_ptr<const FileColumn>& column) {
  if (column->type() != ColumnType::kString) {
    return nullptr;
  }
  const TextParts& parts = static_cast<const TextColumn&>(*column).parts();  // every kString column is one
  return parts.dictionary == nullptr ? nullptr : std::make_unique<CodedTextReader>(column, parts);
}

}  // namespace stoa::storage
