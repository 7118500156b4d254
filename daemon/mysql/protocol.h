#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::daemon {

// Numbers of the MySQL client/server protocol.

constexpr size_t kPacketHeader = 4;
constexpr size_t kMaxPacketPart = 0xffffff;  // a payload of this size or more goes on in the next packet
constexpr uint16_t kCharset = 45;            // utf8mb4_general_ci, always
constexpr uint16_t kBinaryCharset = 63;      // of numbers

enum Capability : uint32_t {
  kClientLongPassword = 1u << 0,
  kClientFoundRows = 1u << 1,
  kClientLongFlag = 1u << 2,
  kClientConnectWithDb = 1u << 3,
  kClientCompress = 1u << 5,
  kClientIgnoreSpace = 1u << 8,
  kClientProtocol41 = 1u << 9,
  kClientInteractive = 1u << 10,
  kClientSsl = 1u << 11,
  kClientTransactions = 1u << 13,
  kClientSecureConnection = 1u << 15,
  kClientMultiStatements = 1u << 16,
  kClientMultiResults = 1u << 17,
  kClientPsMultiResults = 1u << 18,
  kClientPluginAuth = 1u << 19,
  kClientConnectAttributes = 1u << 20,
  kClientPluginAuthLenenc = 1u << 21,
  kClientDeprecateEof = 1u << 24,
};

// What the greeting offers; kClientSsl is added when there is a certificate.
constexpr uint32_t kOffered =
    kClientLongPassword | kClientFoundRows | kClientLongFlag | kClientConnectWithDb | kClientCompress |
    kClientIgnoreSpace | kClientProtocol41 | kClientInteractive | kClientTransactions |
    kClientSecureConnection | kClientMultiStatements | kClientMultiResults | kClientPsMultiResults |
    kClientPluginAuth | kClientConnectAttributes | kClientPluginAuthLenenc | kClientDeprecateEof;

enum StatusFlag : uint16_t {
  kStatusInTransaction = 1u << 0,
  kStatusAutocommit = 1u << 1,
  kStatusMoreResults = 1u << 3,
};

enum class CommandCode : uint8_t {
  kQuit = 1,
  kInitDb = 2,
  kQuery = 3,
  kFieldList = 4,
  kStatistics = 9,
  kProcessKill = 12,
  kPing = 14,
  kChangeUser = 17,
  kStmtPrepare = 22,
  kStmtExecute = 23,
  kStmtSendLongData = 24,
  kStmtClose = 25,
  kStmtReset = 26,
  kSetOption = 27,
  kResetConnection = 31,
};

enum class WireType : uint8_t {
  kDecimal = 0,
  kTiny = 1,
  kShort = 2,
  kLong = 3,
  kFloat = 4,
  kDouble = 5,
  kNull = 6,
  kTimestamp = 7,
  kLongLong = 8,
  kInt24 = 9,
  kDate = 10,
  kTime = 11,
  kDatetime = 12,
  kYear = 13,
  kVarchar = 15,
  kBit = 16,
  kJson = 245,
  kNewDecimal = 246,
  kEnum = 247,
  kSet = 248,
  kTinyBlob = 249,
  kMediumBlob = 250,
  kLongBlob = 251,
  kBlob = 252,
  kVarString = 253,
  kString = 254,
  kGeometry = 255,
};

}  // namespace stoa::daemon
