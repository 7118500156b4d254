#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "storage/base/result.h"

using SSL = struct ssl_st;
using SSL_CTX = struct ssl_ctx_st;

namespace stoa::daemon {

// Certificate, key and trusted issuers. Safe to share.
class TlsContext {
 public:
  // `ca` may be empty; else client certificates are asked for, and one that is shown must be signed by it.
  static Result<std::shared_ptr<TlsContext>> Load(const std::string& cert, const std::string& key,
                                                  const std::string& ca);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

 private:
  friend class TlsStream;
  explicit TlsContext(SSL_CTX* context) : context_(context) {}
  SSL_CTX* context_;
};

// The server's end of one TLS connection as a translator of bytes; it knows no sockets. One thread at a time.
class TlsStream {
 public:
  static Result<std::unique_ptr<TlsStream>> Create(std::shared_ptr<TlsContext> context);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // Bytes that came from the client.
  void Feed(std::string_view bytes);
  // Goes on with the handshake as far as the fed bytes allow; `out` gets what must be sent, also after an
  // error. True: the handshake is done.
  Result<bool> Handshake(std::string& out);
  // Appends the plain text of all complete records to `plain`, and to `out` what the protocol itself must
  // send.
  Status Decrypt(std::string& plain, std::string& out);
  Status Encrypt(std::string_view plain, std::string& out);
  bool peer_closed() const { return peer_closed_; }

 private:
  TlsStream(std::shared_ptr<TlsContext> context, SSL* ssl) : context_(std::move(context)), ssl_(ssl) {}
  void TakeOutput(std::string& out);

  std::shared_ptr<TlsContext> context_;
  SSL* ssl_;
  bool peer_closed_ = false;
};

}  // namespace stoa::daemon
