#include "daemon/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <climits>

namespace stoa::daemon {
namespace {

std::string LastError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::Load(const std::string& cert, const std::string& key,
                                                     const std::string& ca) {
  ERR_clear_error();
  SSL_CTX* raw = SSL_CTX_new(TLS_server_method());
  if (raw == nullptr) {
    return InternalError("TLS: {}", LastError());
  }
  std::shared_ptr<TlsContext> context(new TlsContext(raw));
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
  static constexpr unsigned char kSessionContext[] = "stoa";
  SSL_CTX_set_session_id_context(raw, kSessionContext, sizeof(kSessionContext) - 1);
  if (SSL_CTX_use_certificate_chain_file(raw, cert.c_str()) != 1) {
    return InvalidError("ssl_cert: cannot read a certificate from '{}': {}", cert, LastError());
  }
  if (SSL_CTX_use_PrivateKey_file(raw, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return InvalidError("ssl_key: cannot read a key from '{}': {}", key, LastError());
  }
  if (SSL_CTX_check_private_key(raw) != 1) {
    return InvalidError("ssl_key: '{}' does not belong to certificate '{}': {}", key, cert, LastError());
  }
  if (!ca.empty()) {
    if (SSL_CTX_load_verify_locations(raw, ca.c_str(), nullptr) != 1) {
      return InvalidError("ssl_ca: cannot read certificates from '{}': {}", ca, LastError());
    }
    SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
  }
  return context;
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

Result<std::unique_ptr<TlsStream>> TlsStream::Create(std::shared_ptr<TlsContext> context) {
  SSL* ssl = SSL_new(context->context_);
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  if (ssl == nullptr || in == nullptr || out == nullptr) {
    SSL_free(ssl);
    BIO_free(in);
    BIO_free(out);
    return InternalError("TLS: {}", LastError());
  }
  BIO_set_mem_eof_return(in, -1);  // empty means "later", not "closed"
  BIO_set_mem_eof_return(out, -1);
  SSL_set_bio(ssl, in, out);
  SSL_set_accept_state(ssl);
  return std::unique_ptr<TlsStream>(new TlsStream(std::move(context), ssl));
}

TlsStream::~TlsStream() { SSL_free(ssl_); }

void TlsStream::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const int part = static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX));
    BIO_write(SSL_get_rbio(ssl_), bytes.data(), part);
    bytes.remove_prefix(static_cast<size_t>(part));
  }
}

void TlsStream::TakeOutput(std::string& out) {
  const size_t pending = BIO_ctrl_pending(SSL_get_wbio(ssl_));
  if (pending > 0) {
    const size_t at = out.size();
    out.resize(at + pending);
    const int taken = BIO_read(SSL_get_wbio(ssl_), out.data() + at, static_cast<int>(pending));
    out.resize(at + static_cast<size_t>(std::max(taken, 0)));
  }
}

Result<bool> TlsStream::Handshake(std::string& out) {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  TakeOutput(out);
  if (result == 1) {
    return true;
  }
  if (SSL_get_error(ssl_, result) == SSL_ERROR_WANT_READ) {
    return false;
  }
  return InvalidError("TLS handshake failed: {}", LastError());
}

Status TlsStream::Decrypt(std::string& plain, std::string& out) {
  ERR_clear_error();
  int result = 1;
  while (result > 0) {
    char part[16 << 10];
    result = SSL_read(ssl_, part, sizeof(part));
    if (result > 0) {
      plain.append(part, static_cast<size_t>(result));
    }
  }
  const int error = SSL_get_error(ssl_, result);
  TakeOutput(out);
  if (error == SSL_ERROR_ZERO_RETURN) {
    peer_closed_ = true;
    return Status::Ok();
  }
  return error == SSL_ERROR_WANT_READ ? Status::Ok() : InvalidError("TLS: {}", LastError());
}

Status TlsStream::Encrypt(std::string_view plain, std::string& out) {
  ERR_clear_error();
  while (!plain.empty()) {
    const int part = static_cast<int>(std::min<size_t>(plain.size(), INT_MAX));
    const int written = SSL_write(ssl_, plain.data(), part);
    if (written <= 0) {
      return InternalError("TLS: {}", LastError());
    }
    plain.remove_prefix(static_cast<size_t>(written));
  }
  TakeOutput(out);
  return Status::Ok();
}

}  // namespace stoa::daemon
