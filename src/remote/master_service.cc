#include "remote/master_service.h"

#include "remote/blocking_call.h"
#include "remote/long_call.h"

namespace weft_engine::remote {

Result<std::shared_ptr<MasterSession>> MasterService::find(const std::string& session) {
  std::lock_guard lock(mutex_);
  if (auto it = sessions_.find(session); it != sessions_.end()) return it->second;
  return aborted("Session ", session, " is not found.");
}

std::vector<std::shared_ptr<MasterSession>> MasterService::take_all() {
  std::vector<std::shared_ptr<MasterSession>> out;
  std::lock_guard lock(mutex_);
  for (auto& [handle, s] : sessions_) out.push_back(std::move(s));
  sessions_.clear();
  return out;
}

void MasterService::stop() {
  stopping_ = true;
  for (auto& s : take_all()) s->close();
}

Result<Message> MasterService::create_session(const CreateSession& request, op::CancellationManager& cancellation) {
  WEFT_ASSIGN(std::shared_ptr<MasterSession> made, MasterSession::make(here_, connections_, cluster_, request, stopping_, cancellation));
  std::lock_guard lock(mutex_);
  if (stopping_) return cancelled("the server has stopped");
  const std::string handle = made->handle();
  sessions_[handle] = std::move(made);
  return Message(encode_text(1, handle));
}

Result<Message> MasterService::extend_session(std::string_view bytes) {
  WEFT_ASSIGN(ExtendSession request, decode_extend_session(bytes));
  WEFT_ASSIGN(std::shared_ptr<MasterSession> session, find(request.session));
  WEFT_ASSIGN(const int64_t version, session->extend(std::move(request)));
  return Message(encode_number(4, version));
}

Result<Message> MasterService::run_step(const RunStep& request, op::CancellationManager& cancellation) {
  WEFT_ASSIGN(std::shared_ptr<MasterSession> session, find(request.session));
  RunStepResult result = session->run_step(request, cancellation);
  if (!result.status.ok() && !request.errors_in_body) return result.status;
  return encode_run_step_result(result);
}

Result<Message> MasterService::close_session(std::string_view bytes) {
  const std::string handle = decode_text(1, bytes);
  std::shared_ptr<MasterSession> session;
  {
    std::lock_guard lock(mutex_);
    auto it = sessions_.find(handle);
    if (it == sessions_.end()) return aborted("Session ", handle, " is not found. Possibly, this master has restarted.");
    session = std::move(it->second);
    sessions_.erase(it);
  }
  session->close();
  return Message();
}

Result<Message> MasterService::list_devices(std::string_view bytes) {
  const std::string handle = decode_text(1, bytes);
  if (handle.empty()) return invalid_argument("ListDevices needs a session");
  std::shared_ptr<MasterSession> session;
  {
    std::lock_guard lock(mutex_);
    auto it = sessions_.find(handle);
    if (it == sessions_.end()) return invalid_argument("Session ", handle, " is not found. Possibly, this master has restarted.");
    session = it->second;
  }
  return Message(encode_device_list(1, session->devices()));
}

Result<Message> MasterService::reset(std::string_view bytes) {
  const std::vector<std::string> containers = decode_texts(1, bytes), filters = decode_texts(2, bytes);
  for (auto& s : take_all()) s->close();
  here_->cleanup_containers(containers);
  std::string request;
  for (const std::string& c : containers) request += encode_text(1, c);
  for (const auto& [job, tasks] : cluster_) {
    for (const auto& [index, address] : tasks) {
      const std::string task = task_name(job, index);
      if (task == here_->task() || !passes_filters(filters, task)) continue;
      WEFT_ASSIGN(std::shared_ptr<Channel> channel, connections_->to(task));
      WEFT_RETURN_IF_ERROR(call_and_wait(*channel, "/tensorflow.WorkerService/CleanupAll", Message(request), {.seconds = 60}).status());
    }
  }
  return Message();
}

void add_master_methods(MethodTable& methods, std::shared_ptr<MasterService> service) {
  constexpr std::string_view kService = "tensorflow.MasterService";
  auto add = [&](std::string_view method, auto handler) {
    methods.add_blocking(kService, method, [service, handler](std::string_view bytes) -> Result<Message> { return handler(*service, bytes); });
  };
  add_long(methods, kService, "CreateSession", decode_create_session,
           [service](const CreateSession& request, op::CancellationManager& c) { return service->create_session(request, c); });
  add_long(methods, kService, "RunStep", decode_run_step,
           [service](const RunStep& request, op::CancellationManager& c) { return service->run_step(request, c); });
  add_long(methods, kService, "RunCallable", decode_run_callable,
           [service](const RunCallable& request, op::CancellationManager& c) -> Result<Message> {
             WEFT_ASSIGN(std::shared_ptr<MasterSession> session, service->find(request.session));
             return session->run_callable(request, c);
           });
  add("ExtendSession", [](MasterService& m, std::string_view bytes) { return m.extend_session(bytes); });
  add("CloseSession", [](MasterService& m, std::string_view bytes) { return m.close_session(bytes); });
  add("ListDevices", [](MasterService& m, std::string_view bytes) { return m.list_devices(bytes); });
  add("Reset", [](MasterService& m, std::string_view bytes) { return m.reset(bytes); });
  add("PartialRunSetup", [](MasterService& m, std::string_view bytes) -> Result<Message> {
    WEFT_ASSIGN(const PartialRunSetup request, decode_partial_run_setup(bytes));
    WEFT_ASSIGN(std::shared_ptr<MasterSession> session, m.find(request.session));
    WEFT_ASSIGN(const std::string handle, session->setup_partial_run(request));
    return Message(encode_text(1, handle));
  });
  add("MakeCallable", [](MasterService& m, std::string_view bytes) -> Result<Message> {
    WEFT_ASSIGN(const MakeCallable request, decode_make_callable(bytes));
    WEFT_ASSIGN(std::shared_ptr<MasterSession> session, m.find(request.session));
    WEFT_ASSIGN(const int64_t handle, session->make_callable(request));
    return Message(encode_number(1, handle));
  });
  add("ReleaseCallable", [](MasterService& m, std::string_view bytes) -> Result<Message> {
    WEFT_ASSIGN(std::shared_ptr<MasterSession> session, m.find(decode_text(1, bytes)));
    WEFT_RETURN_IF_ERROR(session->release_callable(decode_number(2, bytes)));
    return Message();
  });
}

}  // namespace weft_engine::remote
