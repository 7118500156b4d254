#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "daemon/server_state.h"

namespace stoa::daemon {

// One listening socket and its accept loop. Close() may be called from any thread.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  // Opens and binds; clients wait in the backlog until Run(). kIo says which address and why.
  static Result<std::shared_ptr<Listener>> Bind(boost::asio::io_context& io, const ListenAddress& address);
  ~Listener();

  void Run(ServerState& server);
  void Close();
  uint16_t port() const { return port_; }  // 0 of a unix socket

 private:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

  Listener(boost::asio::io_context& io, ListenAddress address);
  Status Open();
  Status OpenUnix();
  Status BindTo(const boost::asio::generic::stream_protocol::endpoint& endpoint);
  Status Error(const std::string& reason) const;
  boost::asio::awaitable<void> AcceptLoop(ServerState& server);
  void Welcome(ServerState& server, Socket socket);

  boost::asio::io_context& io_;
  const ListenAddress address_;
  Acceptor acceptor_;
  uint16_t port_ = 0;
  bool owns_path_ = false;
};

}  // namespace stoa::daemon
