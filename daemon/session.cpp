#include "daemon/session.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "daemon/mysql/error_packet.h"
#include "sql/sql_error.h"
#include "storage/base/log.h"

namespace stoa::daemon {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds kDrainTime(5);
constexpr std::chrono::seconds kGoodbyeTime(1);
constexpr std::chrono::milliseconds kWatchTick(50);
// How long a worker waits for the next command of the client it just answered.
constexpr std::chrono::milliseconds kLinger(10);

ChannelOptions ChannelOptionsOf(const ServerOptions& options) {
  return {options.max_packet_size, options.network_timeout, options.net_write_timeout};
}

}  // namespace

void Session::Start(ServerState& server, StreamSocket socket, std::shared_ptr<ConnectionEntry> entry,
                    const ListenAddress& address) {
  auto session = std::make_shared<Session>(server, std::move(socket), std::move(entry), address);
  session->entry_->SetKill([weak = session->weak_from_this()](bool query_only) {
    if (const auto self = weak.lock()) {
      self->Kill(query_only);
    }
  });
  asio::co_spawn(
      session->executor_, [session]() { return session->Run(); }, asio::detached);
}

Session::Session(ServerState& server, StreamSocket socket, std::shared_ptr<ConnectionEntry> entry,
                 const ListenAddress& address)
    : server_(server),
      entry_(std::move(entry)),
      read_only_(address.read_only),
      vip_(address.vip),
      executor_(socket.get_executor()),
      channel_(std::make_shared<Channel>(std::move(socket), ChannelOptionsOf(server.options))),
      scramble_(MakeScramble()),
      offered_(kOffered | (server.tls != nullptr ? uint32_t{kClientSsl} : 0u)),
      work_tick_(executor_) {}

Session::~Session() = default;

asio::awaitable<void> Session::Run() {
  const auto self = shared_from_this();
  Status status = co_await Login();
  if (status.ok()) {
    status = co_await Serve();
  }
  if (!status.ok()) {
    server_.status.CountAborted();
    LogText(LogLevel::kDebug,
            fmt::format("connection {} from {}: {}", entry_->id(), entry_->host(), status.text()));
  }
  entry_->SetKill({});
  if (sql_ != nullptr) {  // rolls back and unlocks, which may wait
    channel_->SetCancel(nullptr);
    cancel_ = nullptr;
    channel_->MarkGone();
    std::unique_ptr<sql::Session> ending = std::move(sql_);
    const std::function<void()> end = [&ending] { ending.reset(); };
    co_await OnWorker(end);
  }
  channel_->Close();
  server_.status.CountReceived(channel_->received());
  server_.status.CountSent(channel_->sent());
  server_.registry.Remove(entry_->id());
}

asio::awaitable<Result<HandshakeResponse>> Session::ReadHandshake() {
  const Result<std::string> packet = co_await channel_->ReadPacket(server_.options.network_timeout);
  if (!packet.ok()) {
    co_return packet.status();
  }
  channel_->StartAnswer();
  co_return ParseHandshakeResponse(*packet, offered_);
}

Session::Reply Session::Login() {
  channel_->SetLoginDeadline(server_.options.network_timeout);
  AppendGreeting({server_.options.version, entry_->id(), scramble_, offered_, kNativePassword},
                 channel_->writer().Begin());
  channel_->writer().End();
  Status status = co_await channel_->Flush();
  if (!status.ok()) {
    co_return status;
  }
  Result<HandshakeResponse> response = co_await ReadHandshake();
  if (response.ok() && response->tls_request) {
    status = co_await channel_->StartTls(server_.tls);
    if (!status.ok()) {
      co_return status;
    }
    response = co_await ReadHandshake();
  }
  if (!response.ok()) {
    // Not one conditional expression: g++ 12 destroys its result twice.
    if (response.status().code() == StatusCode::kIo) {
      co_return response.status();
    }
    co_return co_await SendError(response.status());
  }
  capabilities_ = response->capabilities;
  user_ = response->user;
  status = co_await Authenticate(response->plugin);
  if (!status.ok()) {
    co_return status;
  }
  entry_->SetUser(user_);
  OpenSqlSession(user_);
  if (!response->database.empty()) {
    status = sql_->SelectDatabase(response->database);
    if (!status.ok()) {
      co_return co_await SendError(status);
    }
  }
  AddOk();
  status = co_await channel_->Flush();
  channel_->EndLogin(server_.options.max_packet_size);
  if (capabilities_ & kClientCompress) {
    channel_->StartCompression();
  }
  co_return status;
}

Session::Reply Session::Authenticate(const std::string& plugin) {
  const AuthConversation conversation(plugin);
  if (!conversation.needs_switch()) {
    co_return Status::Ok();
  }
  conversation.AppendSwitch(scramble_, channel_->writer().Begin());
  channel_->writer().End();
  const Status sent = co_await channel_->Flush();
  if (!sent.ok()) {
    co_return sent;
  }
  const Result<std::string> answer = co_await channel_->ReadPacket(server_.options.network_timeout);
  if (!answer.ok()) {
    co_return answer.status();
  }
  channel_->StartAnswer();
  const std::string_view more = conversation.AfterAnswer(*answer);
  if (!more.empty()) {
    channel_->writer().Add(more);
  }
  co_return Status::Ok();
}

void Session::OpenSqlSession(const std::string& user) {
  sql_ = std::make_unique<sql::Session>(server_.environment, entry_->id(), user);
  sql_->SetAccess(read_only_, vip_);
  channel_->SetCancel(&sql_->cancel());
  cancel_ = &sql_->cancel();
}

Session::Reply Session::Serve() {
  entry_->EndCommand();
  while (!closing_ && !server_.stopping) {
    std::string packet;
    if (unanswered_) {
      packet = std::move(*unanswered_);
      unanswered_.reset();
    } else {
      Result<std::string> read = co_await channel_->ReadPacket(IdleTimeout());
      if (closing_) {
        break;
      }
      if (read.ok()) {
        packet = std::move(*read);
      } else {
        read_error_ = read.status();
      }
    }
    channel_->StartAnswer();
    if (!read_error_.ok()) {
      if (read_error_.code() == StatusCode::kIo) {
        co_return read_error_;
      }
      co_return co_await SendError(read_error_);
    }
    if (packet.size() == 1 && packet[0] == static_cast<char>(CommandCode::kQuit)) {
      break;
    }
    Status status = co_await Answer(packet);
    if (!status.ok() && status.code() != StatusCode::kIo) {
      AddError(status);
      status = Status::Ok();
    }
    if (status.ok() && closing_) {  // killed: a client that does not read is not waited for
      co_return co_await channel_->Flush(kGoodbyeTime);
    }
    if (status.ok()) {
      status = co_await channel_->Flush();
    }
    if (!status.ok()) {
      co_return status;
    }
  }
  co_return Status::Ok();
}

namespace {

// What runs on a worker; the rest takes no time.
bool NeedsWorker(CommandCode code) {
  switch (code) {
    case CommandCode::kQuery:
    case CommandCode::kStmtExecute:
    case CommandCode::kStmtPrepare:
    case CommandCode::kFieldList:
    case CommandCode::kInitDb:
    case CommandCode::kResetConnection:
      return true;
    default:
      return false;
  }
}

// What only the coroutine can answer.
bool IsForCoroutine(std::string_view packet) {
  return packet.empty() || packet[0] == static_cast<char>(CommandCode::kQuit) ||
         packet[0] == static_cast<char>(CommandCode::kChangeUser);
}

}  // namespace

Session::Reply Session::Answer(std::string_view payload) {
  const Result<Command> command = ParseCommand(payload);
  if (!command.ok()) {
    co_return command.status();
  }
  if (command->code == CommandCode::kChangeUser) {
    co_return co_await ChangeUser(command->arguments);
  }
  if (!NeedsWorker(command->code)) {
    co_return AnswerQuick(*command);
  }
  Status status;
  // Forgotten here and not by the task: a Kill() from now on must not get lost.
  sql_->cancel().Reset();
  if (closing_) {
    co_return Status::Ok();
  }
  const std::function<void()> work = [&] { status = Work(std::string(payload)); };
  co_await OnWorker(work);
  co_return status;
}

Status Session::Work(std::string packet) {
  while (true) {
    RETURN_IF_ERROR(AnswerOnWorker(packet));
    if (closing_ || server_.stopping || channel_->gone() || !channel_->flushed()) {
      return Status::Ok();
    }
    Result<std::optional<std::string>> next = channel_->ReadNow(kLinger);
    if (!next.ok()) {
      read_error_ = next.status();
      return Status::Ok();
    }
    if (!next->has_value()) {
      return Status::Ok();
    }
    if (IsForCoroutine(**next)) {
      unanswered_ = std::move(*next);
      return Status::Ok();
    }
    channel_->StartAnswer();
    sql_->cancel().Reset();
    if (closing_) {
      return Status::Ok();
    }
    packet = std::move(**next);
  }
}

Status Session::AnswerOnWorker(std::string_view payload) {
  ASSIGN_OR_RETURN(const Command command, ParseCommand(payload));
  if (!NeedsWorker(command.code)) {
    const Status status = AnswerQuick(command);
    if (!status.ok()) {
      AddError(status);
    }
    return channel_->SendNow();
  }
  ResultWriter writer =
      MakeWriter(command.code == CommandCode::kStmtExecute ? RowFormat::kBinary : RowFormat::kText);
  const bool is_query = command.code == CommandCode::kQuery;
  entry_->BeginCommand(CommandName(command.code), is_query ? command.arguments : std::string_view());
  const Status status = RunCommand(command, writer);
  entry_->EndCommand();
  if (channel_->gone() || writer.output_failed()) {
    return IoError("the client left while its statement ran");
  }
  return writer.complete() ? Status::Ok() : status;
}

Status Session::RunCommand(const Command& command, ResultWriter& writer) {
  Status status;
  try {
    switch (command.code) {
      case CommandCode::kQuery:
        status = Query(command.arguments, writer);
        break;
      case CommandCode::kStmtExecute:
        status = ExecutePrepared(command.arguments, writer);
        break;
      case CommandCode::kStmtPrepare:
        status = Prepare(command.arguments, writer);
        break;
      case CommandCode::kFieldList:
        status = FieldList(command.arguments, writer);
        break;
      case CommandCode::kInitDb:
        status = sql_->SelectDatabase(command.arguments);
        break;
      case CommandCode::kResetConnection:
        sql_->Reset(user_);
        prepared_.Clear();
        break;
      default:
        status = InternalError("command {} is not for a worker", CommandName(command.code));
    }
  } catch (const std::exception& error) {
    status = InternalError("unexpected failure: {}", error.what());
    LogError("connection {}: {}", entry_->id(), status.text());
  }
  if (!status.ok() && !writer.complete() && !writer.output_failed()) {
    const Status sent = writer.Error(status);
  } else if (status.ok() && !writer.complete()) {
    const Status sent = writer.Ok({});
  }
  // Most answers leave here, without waking the I/O thread first.
  if (!writer.output_failed() && !channel_->gone() && !channel_->SendNow().ok()) {
    channel_->MarkGone();
  }
  return status;
}

Status Session::RunStatement(std::string_view text, ResultWriter& writer,
                             const std::function<Status()>& run) {
  const int64_t start = server_.options.clock->UnixMicros();
  Status status = run();
  if (!status.ok() && !writer.complete() && !writer.output_failed()) {
    const Status sent = writer.Error(status);
  }
  const int64_t wall = server_.options.clock->UnixMicros() - start;
  server_.status.CountStatement(text, wall, !status.ok());
  if (server_.observer != nullptr) {
    StatementReport report;
    report.text = text;
    report.error = status.text();
    report.client_address = entry_->host();
    report.user = user_;
    report.connection_id = entry_->id();
    report.start_micros = start;
    report.wall_micros = wall;
    report.rows = writer.rows();
    report.result_count = writer.results();
    server_.observer->OnStatement(report);
  }
  return status;
}

Status Session::Query(std::string_view text, ResultWriter& writer) {
  return RunStatement(text, writer, [&] { return sql_->Execute(text, writer); });
}

Status Session::Prepare(std::string_view text, ResultWriter& writer) {
  constexpr size_t kMaxParameters = 65535;
  if (prepared_.full()) {
    return {
        StatusCode::kLimit,
        fmt::format("more than {} prepared statements in one connection", PreparedStatements::kMaxStatements),
        1461};
  }
  ASSIGN_OR_RETURN(const sql::PreparedInfo info, sql_->Prepare(text));
  if (info.parameters > kMaxParameters) {
    const Status closed = sql_->ClosePrepared(info.id);
    return {StatusCode::kLimit,
            fmt::format("{} parameters, a prepared statement takes {}", info.parameters, kMaxParameters),
            1390};
  }
  prepared_.Add(info.id, std::string(text), info.parameters);
  writer.Prepared(info.id, info.columns, info.parameters);
  return Status::Ok();
}

Status Session::ExecutePrepared(std::string_view arguments, ResultWriter& writer) {
  ASSIGN_OR_RETURN(const uint32_t id, ParseNumber(arguments));
  PreparedParameters* parameters = prepared_.Find(id);
  if (parameters == nullptr) {
    return sql::UnknownStatement(id);
  }
  ASSIGN_OR_RETURN(std::vector<sql::Value> values, parameters->Decode(arguments.substr(sizeof(id))));
  return RunStatement(parameters->text(), writer,
                      [&] { return sql_->ExecutePrepared(id, std::move(values), writer); });
}

Status Session::FieldList(std::string_view arguments, ResultWriter& writer) {
  ASSIGN_OR_RETURN(const FieldListRequest request, ParseFieldList(arguments));
  ASSIGN_OR_RETURN(const std::vector<sql::ResultColumn> columns,
                   sql_->FieldList(request.table, request.pattern));
  writer.ColumnList(columns);
  return Status::Ok();
}

Status Session::AnswerQuick(const Command& command) {
  switch (command.code) {
    case CommandCode::kPing:
      AddOk();
      return Status::Ok();
    case CommandCode::kStatistics:
      channel_->writer().Add(server_.status.Line());
      return Status::Ok();
    case CommandCode::kSetOption:
      MakeWriter(RowFormat::kText).Eof();
      return Status::Ok();
    case CommandCode::kStmtSendLongData: {
      const Result<LongDataRequest> request = ParseLongData(command.arguments);
      PreparedParameters* statement = request.ok() ? prepared_.Find(request->statement) : nullptr;
      if (statement != nullptr) {
        statement->AddLongData(request->parameter, request->bytes, server_.options.max_packet_size);
      }
      return Status::Ok();  // never answered, not even when it is wrong
    }
    default:
      break;
  }
  const Result<uint32_t> number = ParseNumber(command.arguments);
  if (command.code == CommandCode::kStmtClose) {  // never answered
    if (number.ok()) {
      prepared_.Remove(*number);
      const Status closed = sql_->ClosePrepared(*number);
    }
    return Status::Ok();
  }
  if (!number.ok()) {
    return number.status();
  }
  if (command.code == CommandCode::kStmtReset) {
    PreparedParameters* statement = prepared_.Find(*number);
    if (statement == nullptr) {
      return sql::UnknownStatement(*number);
    }
    statement->ForgetLongData();
  } else {  // kProcessKill
    const Status killed = server_.registry.Kill(*number, false);
    if (!killed.ok()) {
      return killed;
    }
  }
  AddOk();
  return Status::Ok();
}

Session::Reply Session::ChangeUser(std::string_view arguments) {
  const Result<struct ChangeUser> change = ParseChangeUser(arguments, capabilities_);
  if (!change.ok()) {
    co_return change.status();
  }
  const Status status = co_await Authenticate(change->plugin);
  if (!status.ok()) {
    co_return status;
  }
  user_ = change->user;
  entry_->SetUser(user_);
  prepared_.Clear();
  Status selected;
  const std::function<void()> reset = [&] {
    sql_->Reset(user_);
    if (!change->database.empty()) {
      selected = sql_->SelectDatabase(change->database);
    }
  };
  co_await OnWorker(reset);
  if (selected.ok()) {
    AddOk();
  }
  co_return selected;
}

asio::awaitable<void> Session::OnWorker(const std::function<void()>& task) {
  task_done_ = false;
  channel_->Detach();
  server_.workers->Submit([self = shared_from_this(), task] {
    try {
      task();
    } catch (const std::exception& error) {
      LogError("connection {}: unexpected failure: {}", self->entry_->id(), error.what());
    }
    asio::post(self->executor_, [self] {
      self->task_done_ = true;
      self->work_tick_.cancel();
    });
  });
  while (!task_done_) {
    work_tick_.expires_after(kWatchTick);
    co_await work_tick_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!task_done_ && (channel_->gone() || channel_->PeerLeft())) {
      channel_->MarkGone();  // the statement ends at its next look at the token
      CancelStatement();
    }
  }
  channel_->Attach();
}

Session::Reply Session::SendError(const Status& error) {
  AddError(error);
  const Status sent = co_await channel_->Flush();
  if (sent.ok()) {
    co_await channel_->Drain(kDrainTime);
  }
  co_return error;
}

ResultWriter Session::MakeWriter(RowFormat format) {
  return ResultWriter({channel_->writer(), *channel_, *this, capabilities_, format});
}

void Session::AddOk() {
  AppendOkPayload('\0', {}, StatusFlags(), channel_->writer().Begin());
  channel_->writer().End();
}

void Session::AddError(const Status& error) {
  AppendErrorPayload(error, channel_->writer().Begin());
  channel_->writer().End();
}

std::chrono::seconds Session::IdleTimeout() const {
  const bool interactive = (capabilities_ & kClientInteractive) != 0;
  if (const std::optional<int64_t> own = sql_->idle_timeout(interactive)) {
    constexpr int64_t kLongest = 365 * 24 * 3600;
    return std::chrono::seconds(std::min(*own, kLongest));
  }
  return std::chrono::seconds(interactive ? server_.interactive_seconds.load() : server_.wait_seconds.load());
}

void Session::CancelStatement() {
  if (CancelToken* cancel = cancel_.load()) {
    cancel->Cancel();
  }
}

void Session::Kill(bool query_only) {
  // First this, then the cancel: who forgets a cancel looks at it afterwards.
  if (!query_only) {
    closing_ = true;
  }
  CancelStatement();
  if (!query_only) {
    asio::post(executor_, [self = shared_from_this()] { self->channel_->Abort(); });
  }
}

uint16_t Session::StatusFlags() const {
  const uint16_t autocommit = sql_ == nullptr || sql_->autocommit() ? kStatusAutocommit : 0;
  const uint16_t transaction = sql_ != nullptr && sql_->in_transaction() ? kStatusInTransaction : 0;
  return static_cast<uint16_t>(autocommit | transaction);
}

}  // namespace stoa::daemon
