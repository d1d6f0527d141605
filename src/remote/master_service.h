// MasterService: the sessions that clients, in this process and in others, have with this task as their master.
#pragma once

#include "remote/master_session.h"

namespace weft_engine::remote {

class MasterService {
 public:
  MasterService(std::shared_ptr<GraphService> here, std::shared_ptr<Connections> connections, ClusterMap cluster)
      : here_(std::move(here)), connections_(std::move(connections)), cluster_(std::move(cluster)) {}
  ~MasterService() { stop(); }

  Result<Message> create_session(const CreateSession& request, op::CancellationManager& cancellation);
  Result<Message> extend_session(std::string_view request);
  Result<Message> run_step(const RunStep& request, op::CancellationManager& cancellation);
  Result<Message> close_session(std::string_view request);
  Result<Message> list_devices(std::string_view request);
  Result<Message> reset(std::string_view request);
  Result<std::shared_ptr<MasterSession>> find(const std::string& session);
  // Ends all steps; nobody who waits for a task waits any longer.
  void stop();

 private:
  std::vector<std::shared_ptr<MasterSession>> take_all();

  const std::shared_ptr<GraphService> here_;
  const std::shared_ptr<Connections> connections_;
  const ClusterMap cluster_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MasterSession>> sessions_;
};

void add_master_methods(MethodTable& methods, std::shared_ptr<MasterService> service);

}  // namespace weft_engine::remote
