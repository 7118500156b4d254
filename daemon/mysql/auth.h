#pragma once

#include <string>
#include <string_view>

#include "daemon/mysql/handshake.h"

namespace stoa::daemon {

inline constexpr std::string_view kNativePassword = "mysql_native_password";
inline constexpr std::string_view kCachingSha2 = "caching_sha2_password";

// Accounts do not exist: every name and password is let in; what is left of authentication is that each
// client's plugin must see the conversation it expects. The greeting names mysql_native_password, which old
// drivers cannot do without and most others answer at once. A client of MySQL 9 knows only
// caching_sha2_password and says so; it gets a switch to that, any other plugin (clear text, ed25519, …) a
// switch to mysql_native_password.
class AuthConversation {
 public:
  // `plugin` as the client named it; empty: it knows none.
  explicit AuthConversation(std::string_view plugin);

  bool needs_switch() const { return !switch_to_.empty(); }
  void AppendSwitch(const Scramble& scramble, std::string& out) const;
  // After the client's answer to the switch: the packet to send before OK; empty for none.
  std::string_view AfterAnswer(std::string_view answer) const;

 private:
  std::string_view switch_to_;
};

// From the system's random source.
Scramble MakeScramble();

}  // namespace stoa::daemon
