#include "daemon/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "daemon/mysql/error_packet.h"
#include "daemon/mysql/packet.h"
#include "daemon/session.h"
#include "storage/base/log.h"

namespace stoa::daemon {
namespace {

namespace asio = boost::asio;

constexpr int kBacklog = 1024;
constexpr std::chrono::milliseconds kAcceptPause(50);  // when no descriptor is free

// "ip:port" of the client; a unix socket has none.
std::string PeerName(const Listener::Socket& socket) {
  boost::system::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  const int family = error ? AF_UNSPEC : endpoint.protocol().family();
  if (family != AF_INET && family != AF_INET6) {
    return error ? "unknown" : "localhost";
  }
  asio::ip::tcp::endpoint tcp;
  std::memcpy(tcp.data(), endpoint.data(), std::min<size_t>(tcp.capacity(), endpoint.size()));
  asio::ip::address address = tcp.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return fmt::format("{}:{}", address.to_string(), tcp.port());
}

void SetTcpOptions(Listener::Socket& socket) {
  const int on = 1;
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(socket.native_handle(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

// In place of the greeting, to a socket whose buffer is still empty.
void Refuse(Listener::Socket& socket) {
  PacketWriter packets;
  AppendErrorPayload(TooManyConnections(), packets.Begin());
  packets.End();
  const std::string bytes = packets.Take();
  if (::send(socket.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    return;
  }
  boost::system::error_code ignored;
  socket.shutdown(Listener::Socket::shutdown_send, ignored);
}

}  // namespace

Listener::Listener(asio::io_context& io, ListenAddress address)
    : io_(io), address_(std::move(address)), acceptor_(io) {}

Listener::~Listener() {
  if (owns_path_) {
    ::unlink(address_.unix_path.c_str());
  }
}

Status Listener::Error(const std::string& reason) const {
  return IoError("listen '{}': {}", address_.text.empty() ? address_.host : address_.text, reason);
}

Result<std::shared_ptr<Listener>> Listener::Bind(asio::io_context& io, const ListenAddress& address) {
  std::shared_ptr<Listener> listener(new Listener(io, address));
  RETURN_IF_ERROR(address.is_unix() ? listener->OpenUnix() : listener->Open());
  return listener;
}

Status Listener::Open() {
  boost::system::error_code error;
  asio::ip::tcp::resolver resolver(io_);
  const auto found =
      resolver.resolve(address_.host, std::to_string(address_.port),
                       asio::ip::tcp::resolver::passive | asio::ip::tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    return Error(fmt::format("cannot resolve host '{}': {}", address_.host, error.message()));
  }
  const asio::ip::tcp::endpoint endpoint = found.begin()->endpoint();
  RETURN_IF_ERROR(BindTo({endpoint.data(), endpoint.size(), IPPROTO_TCP}));
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (getsockname(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&bound), &length) == 0) {
    asio::ip::tcp::endpoint tcp;
    std::memcpy(tcp.data(), &bound, std::min<size_t>(tcp.capacity(), length));
    port_ = tcp.port();
  }
  return Status::Ok();
}

Status Listener::OpenUnix() {
  const asio::local::stream_protocol::endpoint endpoint(address_.unix_path);
  struct stat info {};
  if (::lstat(address_.unix_path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) {
      return Error("the path exists and is not a socket");
    }
    boost::system::error_code error;
    asio::local::stream_protocol::socket probe(io_);
    probe.connect(endpoint, error);
    if (!error) {
      return Error("address already in use");
    }
    ::unlink(address_.unix_path.c_str());  // left behind by a server that was killed
  }
  RETURN_IF_ERROR(BindTo({endpoint.data(), endpoint.size(), 0}));
  owns_path_ = true;
  // As MySQL's socket: file permissions of the folder decide who may connect.
  if (::chmod(address_.unix_path.c_str(), 0777) != 0) {
    return Error("cannot set permissions");
  }
  return Status::Ok();
}

Status Listener::BindTo(const asio::generic::stream_protocol::endpoint& endpoint) {
  boost::system::error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error && !address_.is_unix()) {
    acceptor_.set_option(Acceptor::reuse_address(true), error);
  }
  if (!error) {
    acceptor_.bind(endpoint, error);
  }
  if (!error) {
    acceptor_.listen(kBacklog, error);
  }
  return error ? Error(error.message()) : Status::Ok();
}

void Listener::Run(ServerState& server) {
  asio::co_spawn(
      io_, [self = shared_from_this(), &server]() { return self->AcceptLoop(server); }, asio::detached);
}

void Listener::Close() {
  asio::post(io_, [self = shared_from_this()] {
    boost::system::error_code ignored;
    self->acceptor_.close(ignored);
  });
}

asio::awaitable<void> Listener::AcceptLoop(ServerState& server) {
  const auto self = shared_from_this();
  while (!server.stopping) {
    Socket socket(server.NextExecutor());
    auto [error] = co_await acceptor_.async_accept(socket, asio::as_tuple(asio::use_awaitable));
    if (!error) {
      Welcome(server, std::move(socket));
      continue;
    }
    if (!acceptor_.is_open() || error == asio::error::operation_aborted) {
      break;
    }
    if (error != asio::error::connection_aborted) {
      LogWarning("listen '{}': cannot accept: {}", address_.text, error.message());
    }
    asio::steady_timer pause(io_, kAcceptPause);
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

void Listener::Welcome(ServerState& server, Socket socket) {
  server.status.CountConnection();
  if (!address_.is_unix()) {
    SetTcpOptions(socket);
  }
  std::shared_ptr<ConnectionEntry> entry = server.registry.Add(PeerName(socket), "mysql", address_.vip);
  if (entry == nullptr) {
    server.status.CountRefused();
    Refuse(socket);
    return;
  }
  Session::Start(server, std::move(socket), std::move(entry), address_);
}

}  // namespace stoa::daemon
