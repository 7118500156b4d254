#include "daemon/mysql/auth.h"

#include <openssl/rand.h>

#include "daemon/mysql/wire.h"

namespace stoa::daemon {

AuthConversation::AuthConversation(std::string_view plugin) {
  if (!plugin.empty() && plugin != kNativePassword) {
    switch_to_ = plugin == kCachingSha2 ? kCachingSha2 : kNativePassword;
  }
}

void AuthConversation::AppendSwitch(const Scramble& scramble, std::string& out) const {
  out.push_back('\xfe');
  AppendNullTerminated(switch_to_, out);
  AppendNullTerminated(std::string_view(scramble.data(), scramble.size()), out);
}

std::string_view AuthConversation::AfterAnswer(std::string_view answer) const {
  // Without a password (an empty answer, or a single zero) the client expects OK at once.
  return switch_to_ == kCachingSha2 && answer.size() > 1 ? std::string_view("\x01\x03", 2)
                                                         : std::string_view();
}

Scramble MakeScramble() {
  Scramble scramble;
  unsigned char random[scramble.size()] = {};
  // Without a random source the scramble is predictable, which matters as little as the password it hides.
  RAND_bytes(random, sizeof(random));
  for (size_t i = 0; i < scramble.size(); ++i) {
    scramble[i] = static_cast<char>('!' + random[i] % 94);
  }
  return scramble;
}

}  // namespace stoa::daemon
