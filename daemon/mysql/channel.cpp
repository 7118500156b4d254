#include "daemon/mysql/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>

namespace stoa::daemon {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr uint64_t kLoginPacketSize = 1 << 20;
constexpr size_t kReadSize = 16 << 10;
constexpr size_t kLongReadSize = 256 << 10;  // once a packet turned out to be long
constexpr size_t kMaxPending = 4 << 20;
constexpr std::chrono::milliseconds kTick(100);

asio::generic::stream_protocol ProtocolOf(const StreamSocket& socket) {
  boost::system::error_code error;
  const auto endpoint = socket.local_endpoint(error);
  return error ? asio::generic::stream_protocol(AF_UNSPEC, 0) : endpoint.protocol();
}

}  // namespace

Channel::Channel(StreamSocket socket, const ChannelOptions& options)
    : socket_(std::move(socket)),
      descriptor_(socket_.native_handle()),
      protocol_(ProtocolOf(socket_)),
      options_(options),
      timer_(socket_.get_executor()),
      reader_(options.max_packet_size) {
  boost::system::error_code ignored;
  socket_.non_blocking(true, ignored);
}

Channel::~Channel() {
  if (!socket_.is_open()) {
    close(descriptor_);
  }
}

void Channel::Detach() {
  boost::system::error_code ignored;
  socket_.release(ignored);
}

void Channel::Attach() {
  boost::system::error_code error;
  socket_.assign(protocol_, descriptor_, error);
  if (error) {
    gone_ = true;  // the destructor closes it
  }
}

Status Channel::SocketError(const boost::system::error_code& error) const {
  return timed_out_ ? IoError("the client timed out") : IoError("connection: {}", error.message());
}

void Channel::SetLoginDeadline(std::chrono::seconds timeout) {
  login_ = true;
  reader_.SetLimit(kLoginPacketSize);
  Arm(timeout);
}

void Channel::EndLogin(uint64_t max_packet_size) {
  login_ = false;
  reader_.SetLimit(max_packet_size);
  Disarm();
}

void Channel::Arm(steady_clock::duration timeout) {
  deadline_ = steady_clock::now() + timeout;
  if (!timer_running_ || timer_.expiry() > deadline_) {
    StartTimer();
  }
}

void Channel::Disarm() { deadline_ = steady_clock::time_point::max(); }

void Channel::StartTimer() {
  timer_running_ = true;
  timer_.expires_at(deadline_);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const std::shared_ptr<Channel> self = weak.lock();
    if (self != nullptr && !error) {  // an error: replaced by another wait, or the channel ended
      self->OnTimer();
    }
  });
}

void Channel::OnTimer() {
  timer_running_ = false;
  if (deadline_ == steady_clock::time_point::max()) {
    return;
  }
  if (steady_clock::now() >= deadline_) {
    timed_out_ = true;
    Abort();
  } else {
    StartTimer();
  }
}

void Channel::Abort() {
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void Channel::Close() {
  boost::system::error_code ignored;
  timer_.cancel(ignored);
  socket_.shutdown(StreamSocket::shutdown_both, ignored);
  socket_.cancel(ignored);
}

Result<std::optional<std::string>> Channel::NextBuffered() {
  while (true) {
    ASSIGN_OR_RETURN(std::optional<std::string> packet, reader_.Next());
    if (packet || !compressed_) {
      return packet;
    }
    std::string plain;
    ASSIGN_OR_RETURN(const bool inflated, inflater_.Next(plain));
    if (!inflated) {
      return std::optional<std::string>();
    }
    reader_.Append(plain);
  }
}

Status Channel::Ingest(std::string_view raw) {
  received_ += raw.size();
  std::string plain;
  if (tls_ != nullptr) {
    tls_->Feed(raw);
    RETURN_IF_ERROR(tls_->Decrypt(plain, pending_));
    raw = plain;
  }
  if (compressed_) {
    inflater_.Append(raw);
  } else {
    reader_.Append(raw);
  }
  return tls_ != nullptr && tls_->peer_closed() && raw.empty() ? IoError("connection: closed by the client")
                                                               : Status::Ok();
}

asio::awaitable<Status> Channel::ReadMore() {
  const bool long_packet = reader_.buffered() >= kReadSize || inflater_.in_frame();
  const size_t size = long_packet ? kLongReadSize : kReadSize;
  const bool direct = tls_ == nullptr && !compressed_;
  std::string copy;
  char* target = nullptr;
  if (direct) {
    target = reader_.Reserve(size);
  } else {
    copy.resize(size);
    target = copy.data();
  }
  auto [error, count] = co_await socket_.async_read_some(asio::buffer(target, size), kAwait);
  if (error) {
    co_return SocketError(error);
  }
  if (direct) {
    reader_.Commit(count);
    received_ += count;
    co_return Status::Ok();
  }
  co_return Ingest(std::string_view(copy.data(), count));
}

asio::awaitable<Result<std::string>> Channel::ReadPacket(std::chrono::seconds idle) {
  while (true) {
    Result<std::optional<std::string>> packet = NextBuffered();
    if (!packet.ok()) {
      co_return packet.status();
    }
    if (packet->has_value()) {
      if (!login_) {
        Disarm();
      }
      co_return std::move(**packet);
    }
    if (gone_) {
      co_return IoError("connection: closed");
    }
    if (!login_) {
      const bool begun = reader_.in_packet() || inflater_.in_frame();
      Arm(begun ? options_.network_timeout : idle);
    }
    const Status more = co_await ReadMore();
    if (!more.ok()) {
      co_return more;
    }
  }
}

Result<std::optional<std::string>> Channel::ReadNow(std::chrono::milliseconds patience) {
  std::array<char, kReadSize> bytes;
  while (true) {
    ASSIGN_OR_RETURN(std::optional<std::string> packet, NextBuffered());
    if (packet) {
      return packet;
    }
    pollfd state{descriptor_, POLLIN, 0};
    if (poll(&state, 1, static_cast<int>(patience.count())) <= 0) {
      return std::optional<std::string>();
    }
    const ssize_t count = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count <= 0) {
      return std::optional<std::string>();
    }
    RETURN_IF_ERROR(Ingest(std::string_view(bytes.data(), static_cast<size_t>(count))));
  }
}

bool Channel::PeerLeft() const {
  pollfd state{descriptor_, POLLRDHUP, 0};
  return poll(&state, 1, 0) > 0;
}

asio::awaitable<void> Channel::Drain(std::chrono::seconds timeout) {
  boost::system::error_code ignored;
  socket_.shutdown(StreamSocket::shutdown_send, ignored);
  Arm(timeout);
  std::array<char, kReadSize> bytes;
  while (!timed_out_) {
    auto [error, count] = co_await socket_.async_read_some(asio::buffer(bytes), kAwait);
    if (error) {
      break;
    }
  }
}

asio::awaitable<Status> Channel::StartTls(const std::shared_ptr<TlsContext>& context) {
  Result<std::unique_ptr<TlsStream>> stream = TlsStream::Create(std::move(context));
  if (!stream.ok()) {
    co_return stream.status();
  }
  std::unique_ptr<TlsStream> tls = std::move(*stream);
  tls->Feed(reader_.TakeBuffered());
  std::array<char, kReadSize> bytes;
  while (true) {
    const Result<bool> done = tls->Handshake(pending_);
    const Status sent = co_await Flush();
    if (!done.ok() || !sent.ok()) {
      co_return done.ok() ? sent : done.status();
    }
    if (*done) {
      break;
    }
    auto [error, count] = co_await socket_.async_read_some(asio::buffer(bytes), kAwait);
    if (error) {
      co_return SocketError(error);
    }
    tls->Feed(std::string_view(bytes.data(), count));
  }
  tls_ = std::move(tls);
  co_return Ingest({});
}

void Channel::StartAnswer() {
  writer_.SetSequence(static_cast<uint8_t>(reader_.sequence() + 1));
  compressed_sequence_ = static_cast<uint8_t>(inflater_.sequence() + 1);
}

Status Channel::Encode(PacketWriter& packets) {
  if (packets.size() == 0) {
    return Status::Ok();
  }
  if (pending_start_ == pending_.size()) {
    pending_.clear();
    pending_start_ = 0;
  }
  if (pending_.empty() && !compressed_ && tls_ == nullptr) {
    pending_.swap(packets.buffer());
    return Status::Ok();
  }
  std::string deflated;
  std::string_view bytes = packets.buffer();
  if (compressed_) {
    RETURN_IF_ERROR(AppendCompressed(bytes, compressed_sequence_, deflated));
    bytes = deflated;
  }
  if (tls_ != nullptr) {
    RETURN_IF_ERROR(tls_->Encrypt(bytes, pending_));
  } else {
    pending_.append(bytes);
  }
  packets.buffer().clear();
  return Status::Ok();
}

Status Channel::WriteSome() {
  while (pending_start_ < pending_.size()) {
    const ssize_t count = ::send(descriptor_, pending_.data() + pending_start_,
                                 pending_.size() - pending_start_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      pending_start_ += static_cast<size_t>(count);
      sent_ += static_cast<size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      return IoError("connection: {}", std::strerror(errno));
    }
  }
  if (pending_start_ == pending_.size()) {
    constexpr size_t kKeep = 256 << 10;
    if (pending_.capacity() > kKeep) {
      pending_ = std::string();
    }
    pending_.clear();
    pending_start_ = 0;
  } else if (pending_start_ > pending_.size() / 2) {
    pending_.erase(0, pending_start_);
    pending_start_ = 0;
  }
  return Status::Ok();
}

Status Channel::SendNow() {
  RETURN_IF_ERROR(Encode(writer_));
  return WriteSome();
}

Status Channel::Send(PacketWriter& packets) {
  if (gone_) {
    return IoError("connection: closed");
  }
  RETURN_IF_ERROR(Encode(packets));
  RETURN_IF_ERROR(WriteSome());
  return pending_.size() - pending_start_ > kMaxPending ? WaitForClient() : Status::Ok();
}

Status Channel::WaitForClient() {
  while (pending_.size() - pending_start_ > kMaxPending / 2) {
    if (cancel_ != nullptr && cancel_->cancelled() && !gone_) {
      return Status::Ok();  // the statement sees it itself and ends the result with an error
    }
    RETURN_IF_ERROR(WaitWritable());
    RETURN_IF_ERROR(WriteSome());
  }
  return Status::Ok();
}

Status Channel::WaitWritable() {
  const auto end = steady_clock::now() + options_.write_timeout;
  while (steady_clock::now() < end) {
    if (gone_) {
      return IoError("connection: closed");
    }
    if (cancel_ != nullptr && cancel_->cancelled()) {
      return Status::Ok();
    }
    pollfd state{descriptor_, POLLOUT, 0};
    if (poll(&state, 1, static_cast<int>(kTick.count())) > 0) {
      return Status::Ok();
    }
  }
  gone_ = true;
  return IoError("the client did not read its result for {} s", options_.write_timeout.count());
}

asio::awaitable<Status> Channel::Flush() { return Flush(options_.write_timeout); }

asio::awaitable<Status> Channel::Flush(std::chrono::seconds patience) {
  Status status = Encode(writer_);
  if (status.ok()) {
    status = WriteSome();
  }
  while (status.ok() && pending_start_ < pending_.size()) {
    if (gone_) {
      co_return IoError("connection: closed");
    }
    if (!login_) {
      Arm(patience);
    }
    auto [error] = co_await socket_.async_wait(StreamSocket::wait_write, kAwait);
    status = error ? SocketError(error) : WriteSome();
  }
  if (!login_) {
    Disarm();
  }
  co_return status;
}

}  // namespace stoa::daemon
