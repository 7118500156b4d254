#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "daemon/mysql/compression.h"
#include "daemon/mysql/packet.h"
#include "daemon/mysql/result_writer.h"
#include "daemon/tls.h"
#include "storage/base/cancel_token.h"

namespace stoa::daemon {

using StreamSocket = boost::asio::generic::stream_protocol::socket;

struct ChannelOptions {
  uint64_t max_packet_size = 0;
  std::chrono::seconds network_timeout{5};
  std::chrono::seconds write_timeout{60};
};

// One client's packets over a socket, with TLS and compression when they were agreed on.
//
// Everything that returns an awaitable, and Abort(), runs on the socket's I/O thread. Send() runs on
// the thread that executes a statement, while the I/O thread does nothing but ReadAhead(): it writes to the
// socket directly, so that an answer needs no second thread. The socket is closed by the destructor only,
// never under a statement.
class Channel : public PacketOutput, public std::enable_shared_from_this<Channel> {
 public:
  Channel(StreamSocket socket, const ChannelOptions& options);
  ~Channel() override;

  // Takes the socket away from the I/O thread while a worker uses it, so that what the client sends wakes
  // only the worker, and gives it back. In between nothing awaitable may run.
  void Detach();
  void Attach();

  // The next packet. The first byte may take until `idle`, each further piece network_timeout; during a login
  // (see SetLoginDeadline) only the deadline of that counts. kIo: closed, failed or timed out; kLimit,
  // kInvalid: as PacketReader and CompressedReader, to be told to the client.
  boost::asio::awaitable<Result<std::string>> ReadPacket(std::chrono::seconds idle);
  void SetLoginDeadline(std::chrono::seconds timeout);
  void EndLogin(uint64_t max_packet_size);

  // Sends what `writer()` holds and what is left of earlier answers.
  boost::asio::awaitable<Status> Flush();
  boost::asio::awaitable<Status> Flush(std::chrono::seconds patience);
  // The server's side of the TLS handshake, after the client asked for it.
  boost::asio::awaitable<Status> StartTls(const std::shared_ptr<TlsContext>& context);
  void StartCompression() { compressed_ = true; }
  bool secure() const { return tls_ != nullptr; }

  // The next packet when it comes within `patience` (each further piece likewise); none otherwise, also when
  // the client is gone: ReadPacket() tells. Errors as ReadPacket(). Blocks; for the thread that executes
  // statements.
  Result<std::optional<std::string>> ReadNow(std::chrono::milliseconds patience);
  // The client closed its side. From any thread.
  bool PeerLeft() const;
  // Reads and drops until the client closes or `timeout` passed: so that a client that still sends sees the
  // error.
  boost::asio::awaitable<void> Drain(std::chrono::seconds timeout);
  // Ends waits on the socket that are under way.
  void Abort();
  // No more answers: Send() fails, and wakes within a tenth of a second.
  void MarkGone() { gone_ = true; }
  bool gone() const { return gone_; }
  void Close();

  PacketWriter& writer() { return writer_; }
  // Numbers the next answer.
  void StartAnswer();
  // What ends a waiting Send().
  void SetCancel(const CancelToken* cancel) { cancel_ = cancel; }

  Status Send(PacketWriter& packets) override;
  // As Send(), without waiting; what the socket does not take stays for Flush().
  Status SendNow();
  // Nothing waits for the socket.
  bool flushed() const { return pending_start_ == pending_.size() && writer_.size() == 0; }

  uint64_t received() const { return received_; }
  uint64_t sent() const { return sent_; }

 private:
  Result<std::optional<std::string>> NextBuffered();
  boost::asio::awaitable<Status> ReadMore();
  Status Ingest(std::string_view raw);
  Status Encode(PacketWriter& packets);
  Status WriteSome();
  Status WaitForClient();
  Status WaitWritable();
  void Arm(std::chrono::steady_clock::duration timeout);
  void Disarm();
  void StartTimer();
  void OnTimer();
  Status SocketError(const boost::system::error_code& error) const;

  StreamSocket socket_;
  const int descriptor_;  // of the socket, also while it is detached
  const boost::asio::generic::stream_protocol protocol_;
  ChannelOptions options_;
  bool login_ = false;

  // The watchdog: fires at the deadline or earlier; one timer for many deadlines.
  boost::asio::steady_timer timer_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  bool timer_running_ = false;
  bool timed_out_ = false;

  PacketReader reader_;
  std::unique_ptr<TlsStream> tls_;
  bool compressed_ = false;
  CompressedReader inflater_;
  uint8_t compressed_sequence_ = 0;

  PacketWriter writer_;
  std::string pending_;  // encoded, not yet taken by the socket
  size_t pending_start_ = 0;
  const CancelToken* cancel_ = nullptr;
  std::atomic<bool> gone_{false};
  uint64_t received_ = 0;
  uint64_t sent_ = 0;
};

}  // namespace stoa::daemon
