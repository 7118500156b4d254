#include <array>
#include <bit>
#include <cmath>

#include "sql/expr/functions/function.h"

// crc32(), md5(), sha1() and hex().
namespace stoa::sql {
namespace {

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1) != 0 ? value >> 1 ^ 0xedb88320u : value >> 1;
    }
    table[byte] = value;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kCrcTable = MakeCrcTable();

// The checksum of gzip (polynomial 04c11db7).
uint32_t Crc32(std::string_view text) {
  uint32_t crc = 0xffffffffu;
  for (char c : text) {
    crc = kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ crc >> 8;
  }
  return ~crc;
}

void AppendHex(std::string_view bytes, const char* digits, std::string& out) {
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
}

// The text in blocks of 64 bytes as MD5 and SHA-1 want it: a one bit, zeroes, and its length in bits at the
// end.
std::string Padded(std::string_view text, bool big_endian_length) {
  std::string padded(text);
  padded += '\x80';
  padded.resize((padded.size() + 8 + 63) / 64 * 64 - 8);
  uint64_t bits = uint64_t{text.size()} * 8;
  for (unsigned i = 0; i < 8; ++i) {
    unsigned shift = 8 * (big_endian_length ? 7 - i : i);
    padded += static_cast<char>(bits >> shift & 0xff);
  }
  return padded;
}

uint32_t WordAt(std::string_view block, size_t word, bool big_endian) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    auto byte = static_cast<unsigned char>(block[word * 4 + i]);
    value |= uint32_t{byte} << (8 * (big_endian ? 3 - i : i));
  }
  return value;
}

template <size_t kWords>
std::string Digest(const std::array<uint32_t, kWords>& state, bool big_endian) {
  std::string bytes;
  for (uint32_t word : state) {
    for (unsigned i = 0; i < 4; ++i) {
      bytes += static_cast<char>(word >> (8 * (big_endian ? 3 - i : i)) & 0xff);
    }
  }
  std::string hex;
  AppendHex(bytes, "0123456789abcdef", hex);
  return hex;
}

std::array<uint32_t, 64> MakeSines() {
  std::array<uint32_t, 64> sines{};
  for (unsigned i = 0; i < 64; ++i) {
    sines[i] = static_cast<uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
  }
  return sines;
}

// RFC 1321.
void Md5Block(std::string_view block, const std::array<uint32_t, 64>& sines, std::array<uint32_t, 4>& state) {
  constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  auto [a, b, c, d] = state;
  for (unsigned i = 0; i < 64; ++i) {
    uint32_t mix = 0;
    unsigned word = 0;
    switch (i / 16) {
      case 0:
        mix = (b & c) | (~b & d);
        word = i;
        break;
      case 1:
        mix = (d & b) | (~d & c);
        word = (5 * i + 1) % 16;
        break;
      case 2:
        mix = b ^ c ^ d;
        word = (3 * i + 5) % 16;
        break;
      default:
        mix = c ^ (b | ~d);
        word = 7 * i % 16;
        break;
    }
    mix += a + sines[i] + WordAt(block, word, false);
    a = d;
    d = c;
    c = b;
    b += std::rotl(mix, kShifts[i / 16][i % 4]);
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

std::string Md5(std::string_view text) {
  static const std::array<uint32_t, 64> sines = MakeSines();
  std::array<uint32_t, 4> state = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
  std::string padded = Padded(text, false);
  for (size_t at = 0; at < padded.size(); at += 64) {
    Md5Block(std::string_view(padded).substr(at, 64), sines, state);
  }
  return Digest(state, false);
}

// RFC 3174.
void Sha1Block(std::string_view block, std::array<uint32_t, 5>& state) {
  std::array<uint32_t, 80> words{};
  for (size_t i = 0; i < 80; ++i) {
    words[i] = i < 16 ? WordAt(block, i, true)
                      : std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (size_t i = 0; i < 80; ++i) {
    uint32_t mix = 0;
    switch (i / 20) {
      case 0:
        mix = ((b & c) | (~b & d)) + 0x5a827999u;
        break;
      case 1:
        mix = (b ^ c ^ d) + 0x6ed9eba1u;
        break;
      case 2:
        mix = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
        break;
      default:
        mix = (b ^ c ^ d) + 0xca62c1d6u;
        break;
    }
    mix += std::rotl(a, 5) + e + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = mix;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

std::string Sha1(std::string_view text) {
  std::array<uint32_t, 5> state = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
  std::string padded = Padded(text, true);
  for (size_t at = 0; at < padded.size(); at += 64) {
    Sha1Block(std::string_view(padded).substr(at, 64), state);
  }
  return Digest(state, true);
}

std::string HexOfBytes(std::string_view text) {
  std::string hex;
  AppendHex(text, "0123456789ABCDEF", hex);
  return hex;
}

template <auto kMake>
Result<SharedExpr> BindOfText(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindTexts(call, scope));
  return MakeKernel(ValueType::kString, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      out.texts()[row] = out.Own(kMake(in[0].texts()[row]));
    }
  });
}

Result<SharedExpr> BindCrc32(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindTexts(call, scope));
  return MakeKernel(ValueType::kInt, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      out.ints()[row] = Crc32(in[0].texts()[row]);
    }
  });
}

// hex(number): its digits; hex(text): its bytes.
Result<SharedExpr> BindHex(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  if (LaneOf(args[0]->type()) == VectorLane::kBytes) {
    return BindOfText<HexOfBytes>(call, scope);
  }
  args[0] = AsBigint(std::move(args[0]));
  return MakeKernel(ValueType::kString, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      out.texts()[row] = out.Own(fmt::format("{:X}", static_cast<uint64_t>(in[0].ints()[row])));
    }
  });
}

constexpr FunctionEntry kFunctions[] = {
    {"crc32", 1, 1, BindCrc32},      {"md5", 1, 1, BindOfText<Md5>}, {"sha1", 1, 1, BindOfText<Sha1>},
    {"sha", 1, 1, BindOfText<Sha1>}, {"hex", 1, 1, BindHex},
};

}  // namespace

std::span<const FunctionEntry> HashFunctions() { return kFunctions; }

}  // namespace stoa::sql
