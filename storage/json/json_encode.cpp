#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "storage/base/byte_writer.h"
#include "storage/json/json_layout.h"
#include "storage/json/json_value.h"

namespace stoa::storage {
namespace {

namespace ondemand = simdjson::ondemand;

// Parsers keep their buffers between texts of a thread, up to this size of text.
constexpr size_t kKeptCapacity = 1u << 20;

// Turns one text into stored form. Recursion is bounded by json_layout::kMaxDepth.
class Encoder {
 public:
  Encoder(std::string_view text, std::string& out) : text_(text), out_(out) {}

  Status Run(ondemand::parser& parser, simdjson::padded_string_view padded) {
    ondemand::document document;
    RETURN_IF_ERROR(Check(parser.iterate(padded).get(document)));
    begin_ = padded.data();
    document_ = &document;
    ondemand::json_type type{};
    RETURN_IF_ERROR(Check(document.type().get(type)));
    if (type == ondemand::json_type::array) {
      ondemand::array array;
      RETURN_IF_ERROR(Check(document.get_array().get(array)));
      RETURN_IF_ERROR(AddArray(array, 1));
    } else if (type == ondemand::json_type::object) {
      ondemand::object object;
      RETURN_IF_ERROR(Check(document.get_object().get(object)));
      RETURN_IF_ERROR(AddObject(object, 1));
    } else {
      return InvalidError("invalid JSON: the value must be an object or an array, not '{}'", Excerpt(0));
    }
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      return InvalidError("invalid JSON: text after the value{}", Where());
    }
    return Status::Ok();
  }

 private:
  Status AddArray(ondemand::array& array, int depth) {
    RETURN_IF_ERROR(Open(JsonKind::kArray, depth));
    const size_t begin = out_.size();
    const size_t first_end = ends_.size();
    for (auto item : array) {
      ondemand::value value;
      RETURN_IF_ERROR(Check(std::move(item).get(value)));
      RETURN_IF_ERROR(AddValue(value, depth));
      ends_.push_back(static_cast<uint32_t>(out_.size() - begin));
    }
    return Close(first_end);
  }

  Status AddObject(ondemand::object& object, int depth) {
    RETURN_IF_ERROR(Open(JsonKind::kObject, depth));
    const size_t begin = out_.size();
    const size_t first_end = ends_.size();
    for (auto member : object) {
      ondemand::field field;
      RETURN_IF_ERROR(Check(std::move(member).get(field)));
      std::string_view name;
      RETURN_IF_ERROR(Check(field.unescaped_key().get(name)));
      json_layout::AppendString(name, out_);
      RETURN_IF_ERROR(AddValue(field.value(), depth));
      ends_.push_back(static_cast<uint32_t>(out_.size() - begin));
    }
    return Close(first_end);
  }

  Status AddValue(ondemand::value& value, int depth) {
    ondemand::json_type type{};
    RETURN_IF_ERROR(Check(value.type().get(type)));
    switch (type) {
      case ondemand::json_type::array: {
        ondemand::array array;
        RETURN_IF_ERROR(Check(value.get_array().get(array)));
        return AddArray(array, depth + 1);
      }
      case ondemand::json_type::object: {
        ondemand::object object;
        RETURN_IF_ERROR(Check(value.get_object().get(object)));
        return AddObject(object, depth + 1);
      }
      case ondemand::json_type::number:
        return AddNumber(value);
      case ondemand::json_type::string: {
        std::string_view text;
        RETURN_IF_ERROR(Check(value.get_string().get(text)));
        AddTag(JsonKind::kString);
        json_layout::AppendString(text, out_);
        return Status::Ok();
      }
      case ondemand::json_type::boolean: {
        bool truth = false;
        RETURN_IF_ERROR(Check(value.get_bool().get(truth)));
        AddTag(truth ? JsonKind::kTrue : JsonKind::kFalse);
        return Status::Ok();
      }
      case ondemand::json_type::null: {
        bool null = false;
        RETURN_IF_ERROR(Check(value.is_null().get(null)));
        if (!null) {
          return Check(simdjson::N_ATOM_ERROR);
        }
        AddTag(JsonKind::kNull);
        return Status::Ok();
      }
    }
    return Check(simdjson::TAPE_ERROR);
  }

  // simdjson 3.0 checks the grammar of numbers, but reads doubles of more than 19 digits wrongly.
  Status AddNumber(ondemand::value& value) {
    const std::string_view token = value.raw_json_token();
    bool integer = false;
    RETURN_IF_ERROR(Check(value.is_integer().get(integer)));
    int64_t whole = 0;
    if (integer && value.get_int64().get(whole) == simdjson::SUCCESS) {
      AddTag(JsonKind::kInt);
      ByteWriter(out_).Write(whole);
      return Status::Ok();
    }
    double real = 0;
    RETURN_IF_ERROR(Check(value.get_double().get(real)));
    const std::errc error = std::from_chars(token.data(), token.data() + token.size(), real).ec;
    if (error == std::errc::result_out_of_range && std::fabs(real) >= 1) {
      return Check(simdjson::NUMBER_ERROR);
    }
    AddTag(JsonKind::kDouble);
    ByteWriter(out_).Write(real);
    return Status::Ok();
  }

  void AddTag(JsonKind kind) { out_.push_back(static_cast<char>(kind)); }

  Status Open(JsonKind kind, int depth) {
    if (depth > json_layout::kMaxDepth) {
      return InvalidError("invalid JSON: nested deeper than {} levels{}", json_layout::kMaxDepth, Where());
    }
    AddTag(kind);
    return Status::Ok();
  }

  Status Close(size_t first_end) {
    json_layout::AppendContainerEnd(ends_.data() + first_end, ends_.size() - first_end, out_);
    ends_.resize(first_end);
    if (out_.size() > std::numeric_limits<uint32_t>::max()) {
      return LimitError("JSON value is larger than 4294967295 bytes");
    }
    return Status::Ok();
  }

  Status Check(simdjson::error_code error) {
    if (error == simdjson::SUCCESS) {
      return Status::Ok();
    }
    return InvalidError("invalid JSON: {}{}", Describe(error), Where());
  }

  static std::string_view Describe(simdjson::error_code error) {
    switch (error) {
      case simdjson::EMPTY:
        return "the text is empty";
      case simdjson::UTF8_ERROR:
        return "the text is not valid UTF-8";
      case simdjson::UNCLOSED_STRING:
        return "a string is not closed";
      case simdjson::UNESCAPED_CHARS:
        return "a string holds an unescaped control character";
      case simdjson::STRING_ERROR:
        return "bad escape in a string";
      case simdjson::NUMBER_ERROR:
        return "bad number";
      case simdjson::T_ATOM_ERROR:
      case simdjson::F_ATOM_ERROR:
      case simdjson::N_ATOM_ERROR:
        return "unknown word";
      case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
        return "an array or object is not closed";
      default:
        return "syntax error";
    }
  }

  std::string Where() {
    const char* location = nullptr;
    if (document_ == nullptr || document_->current_location().get(location) != simdjson::SUCCESS) {
      return "";
    }
    const size_t offset = static_cast<size_t>(location - begin_);
    if (offset >= text_.size()) {
      return " at the end";
    }
    return fmt::format(" near '{}' (byte {})", Excerpt(offset), offset + 1);
  }

  std::string_view Excerpt(size_t offset) const {
    constexpr size_t kLongest = 20;
    size_t length = std::min(kLongest, text_.size() - offset);
    while (length > 0 && offset + length < text_.size() &&
           (static_cast<unsigned char>(text_[offset + length]) & 0xc0) == 0x80) {
      --length;
    }
    return text_.substr(offset, length);
  }

  std::string_view text_;
  std::string& out_;
  const char* begin_ = nullptr;
  ondemand::document* document_ = nullptr;
  std::vector<uint32_t> ends_;
};

}  // namespace

Result<std::string> EncodeJson(std::string_view text) {
  thread_local ondemand::parser parser;
  thread_local std::string padded;
  if (text.size() > std::numeric_limits<uint32_t>::max() / 8) {
    return LimitError("JSON text of {} bytes is longer than {}", text.size(),
                      std::numeric_limits<uint32_t>::max() / 8);
  }
  padded.resize(text.size() + simdjson::SIMDJSON_PADDING);
  std::memcpy(padded.data(), text.data(), text.size());
  std::memset(padded.data() + text.size(), ' ', simdjson::SIMDJSON_PADDING);
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  const Status status =
      Encoder(text, out).Run(parser, simdjson::padded_string_view(padded.data(), text.size(), padded.size()));
  if (text.size() > kKeptCapacity) {
    parser = ondemand::parser();
    padded = std::string();
  }
  if (!status.ok()) {
    return status;
  }
  return out;
}

}  // namespace stoa::storage
