#include "daemon/server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "daemon/listener.h"
#include "daemon/server_state.h"
#include "storage/base/log.h"

namespace stoa::daemon {
namespace {

constexpr std::chrono::milliseconds kCancelPatience(200);

}  // namespace

struct Server::Impl {
  explicit Impl(ServerOptions options);

  // The order matters: connections that are still in an io_context when it goes refer to `state`.
  ServerState state;
  std::vector<std::unique_ptr<boost::asio::io_context>> contexts;  // one a thread
  std::vector<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work;
  std::vector<std::shared_ptr<Listener>> listeners;
  std::vector<std::thread> threads;
  bool stopped = false;

  Status BindAll();
  void Stop(std::chrono::milliseconds patience);
};

Server::Impl::Impl(ServerOptions options) : state(std::move(options)) {
  for (size_t i = 0; i < std::max<size_t>(state.options.io_threads, 1); ++i) {
    contexts.push_back(std::make_unique<boost::asio::io_context>(1));
    work.emplace_back(contexts.back()->get_executor());
    state.executors.emplace_back(contexts.back()->get_executor());
  }
}

Status Server::Impl::BindAll() {
  const ServerOptions& options = state.options;
  if (!options.ssl_cert.empty() && !options.ssl_key.empty()) {
    ASSIGN_OR_RETURN(state.tls, TlsContext::Load(options.ssl_cert, options.ssl_key, options.ssl_ca));
  } else if (!options.ssl_cert.empty() || !options.ssl_key.empty()) {
    return InvalidError("TLS needs both ssl_cert and ssl_key");
  }
  for (const ListenAddress& address : options.listeners) {
    if (address.protocol != ListenProtocol::kMysql) {
      LogWarning("listen '{}': only the mysql protocol is served yet, the line is ignored", address.text);
      continue;
    }
    ASSIGN_OR_RETURN(std::shared_ptr<Listener> listener, Listener::Bind(*contexts.front(), address));
    listeners.push_back(std::move(listener));
  }
  return Status::Ok();
}

void Server::Impl::Stop(std::chrono::milliseconds patience) {
  if (stopped) {
    return;
  }
  stopped = true;
  state.stopping = true;
  for (const auto& listener : listeners) {
    listener->Close();
  }
  if (!threads.empty()) {
    state.registry.KillIdle();
    if (!state.registry.WaitUntilEmpty(patience)) {
      LogInfo("stop: ending {} connections", state.registry.size());
    }
    do {
      state.registry.KillAll(false);
    } while (!state.registry.WaitUntilEmpty(kCancelPatience));
  }
  if (state.workers != nullptr) {
    state.workers->Stop();
  }
  work.clear();
  for (const auto& context : contexts) {
    context->stop();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  threads.clear();
  listeners.clear();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { Stop(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<Server>> Server::Bind(ServerOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  RETURN_IF_ERROR(impl->BindAll());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options,
                                              const sql::SessionEnvironment& environment,
                                              QueryObserver* observer) {
  ASSIGN_OR_RETURN(std::unique_ptr<Server> server, Bind(std::move(options)));
  server->Run(environment, observer);
  return server;
}

void Server::Run(const sql::SessionEnvironment& environment, QueryObserver* observer) {
  ServerState& state = impl_->state;
  const ServerOptions& options = state.options;
  state.environment = environment;
  state.observer = observer;
  const size_t workers = std::max<size_t>(options.worker_threads, 1);
  state.workers = std::make_unique<ThreadPool>(workers, std::max(workers, options.max_worker_threads));
  state.status.Watch(&state.registry, state.workers.get());
  for (const auto& listener : impl_->listeners) {
    listener->Run(state);
  }
  for (const auto& context : impl_->contexts) {
    impl_->threads.emplace_back([io = context.get()] { io->run(); });
  }
}

void Server::Stop(std::chrono::milliseconds patience) { impl_->Stop(patience); }

ConnectionRegistry& Server::registry() { return impl_->state.registry; }

StatusReport& Server::status() { return impl_->state.status; }

void Server::SetIdleTimeouts(std::chrono::seconds wait, std::chrono::seconds interactive) {
  impl_->state.wait_seconds = wait.count();
  impl_->state.interactive_seconds = interactive.count();
}

std::vector<uint16_t> Server::ports() const {
  std::vector<uint16_t> ports;
  for (const auto& listener : impl_->listeners) {
    if (listener->port() != 0) {
      ports.push_back(listener->port());
    }
  }
  return ports;
}

}  // namespace stoa::daemon
