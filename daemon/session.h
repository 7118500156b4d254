#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/listen_address.h"
#include "daemon/mysql/auth.h"
#include "daemon/mysql/channel.h"
#include "daemon/mysql/command.h"
#include "daemon/mysql/prepared.h"
#include "daemon/server_state.h"
#include "sql/session/session.h"

namespace stoa::daemon {

// One client of the MySQL protocol from the greeting to the end. It lives by itself: Start() returns at once,
// and the last of its coroutine and its task lets it go. The coroutine runs on the socket's I/O thread;
// whatever touches the SQL session runs as a task on a worker, while the coroutine only watches whether the
// client is still there.
class Session : public std::enable_shared_from_this<Session>, private StatusFlagSource {
 public:
  static void Start(ServerState& server, StreamSocket socket, std::shared_ptr<ConnectionEntry> entry,
                    const ListenAddress& address);

  Session(ServerState& server, StreamSocket socket, std::shared_ptr<ConnectionEntry> entry,
          const ListenAddress& address);
  ~Session() override;

 private:
  using Reply = boost::asio::awaitable<Status>;

  boost::asio::awaitable<void> Run();

  // Until the client may send commands. Not ok: it was told what is wrong, or is gone.
  Reply Login();
  boost::asio::awaitable<Result<HandshakeResponse>> ReadHandshake();
  Reply Authenticate(const std::string& plugin);
  void OpenSqlSession(const std::string& user);

  // Answers commands until the client leaves. Not ok: why it ended.
  Reply Serve();
  // kIo ends the connection; any other status is sent to the client as an error.
  Reply Answer(std::string_view payload);
  Reply ChangeUser(std::string_view arguments);

  // Answers what needs no SQL session, or hardly.
  Status AnswerQuick(const Command& command);

  // Run on a worker.
  Status Work(std::string packet);
  Status AnswerOnWorker(std::string_view payload);
  Status RunCommand(const Command& command, ResultWriter& writer);
  Status RunStatement(std::string_view text, ResultWriter& writer, const std::function<Status()>& run);
  Status Query(std::string_view text, ResultWriter& writer);
  Status Prepare(std::string_view text, ResultWriter& writer);
  Status ExecutePrepared(std::string_view arguments, ResultWriter& writer);
  Status FieldList(std::string_view arguments, ResultWriter& writer);

  // Runs `task` on a worker and watches the client meanwhile.
  boost::asio::awaitable<void> OnWorker(const std::function<void()>& task);
  Reply SendError(const Status& error);
  void AddOk();
  void AddError(const Status& error);
  ResultWriter MakeWriter(RowFormat format);
  std::chrono::seconds IdleTimeout() const;
  void Kill(bool query_only);  // any thread
  void CancelStatement();      // any thread
  uint16_t StatusFlags() const override;

  ServerState& server_;
  const std::shared_ptr<ConnectionEntry> entry_;
  const bool read_only_;  // as the listener says
  const bool vip_;
  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<Channel> channel_;
  Scramble scramble_{};
  uint32_t offered_ = 0;
  uint32_t capabilities_ = 0;
  std::string user_;
  std::unique_ptr<sql::Session> sql_;
  std::atomic<CancelToken*> cancel_{nullptr};  // of sql_; taken away after the last Kill()
  PreparedStatements prepared_;
  bool task_done_ = true;  // I/O thread only
  boost::asio::steady_timer work_tick_;
  std::optional<std::string> unanswered_;  // read by a worker, for the coroutine to answer
  Status read_error_;                      // likewise
  std::atomic<bool> closing_{false};       // ends after the command that runs
};

}  // namespace stoa::daemon
