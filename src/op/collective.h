// Collectives: what the members of a group (devices, each with an op of its own) do together: reduce, broadcast, gather, all-to-all.
//
// A CollectiveExecutor runs them. It asks a CollectiveParamResolver who belongs to the group and what the instance is, then lets the
// algorithm send and receive through a CollectiveRemoteAccess. Those of one process stand in collective_local.cc; a cluster puts others in
// their place and installs the executor in its ResourceManager under CollectiveExecutor::kContainer and kName.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/resource.h"
#include "core/tensor.h"
#include "op/cancellation.h"
#include "op/resource_manager.h"

namespace weft_engine::op {

// TensorFlow's numbers; texts of errors have them.
enum class CollectiveType : int { kReduction = 0, kBroadcast = 1, kGather = 2, kPermute = 3, kAllToAll = 4, kReduceScatter = 5 };

// A device that joins a group.
struct CollectiveGroup {
  int32_t key = 0, size = 0;
  int32_t rank = -1;  // where the program says it
  std::string device;
  std::string attributes;  // of a device of another process, as its task tells them; the members get them as they are
};
struct CollectiveMembers {
  std::vector<std::string> devices;  // in the order of their names
  std::vector<int> ranks;            // as the program says, else 0, 1, ...
  std::vector<std::string> attributes;
  bool direct = false;  // all of them are this engine's: small reductions need not go around the ring
  // The place of a device; ring and messages go by it. (Ranks only say where all-to-all puts what a member sent.)
  int rank_of(const std::string& device) const;
};
// All that joined, in the order of a group. InvalidArgument where they ask for the same ranks.
Result<std::shared_ptr<const CollectiveMembers>> group_members(std::vector<CollectiveGroup> joined);

struct CollectiveParams {
  std::string name;  // of the node
  CollectiveGroup group;
  CollectiveType type = CollectiveType::kReduction;
  int32_t instance_key = 0;
  DType dtype = DType::kInvalid;
  Shape shape;             // of the result
  bool is_source = false;  // of a broadcast
  double timeout_seconds = 0;  // 0: none
  // Reductions: how chunks are cut (see ring_plan), own and received chunk to their sum, the last step on a sum (may be empty).
  std::vector<int64_t> subdiv_offsets;
  int64_t max_subdivs_per_device = -1;
  std::function<Result<Tensor>(const Tensor& own, const Tensor& received)> merge;
  std::function<Result<Tensor>(const Tensor& sum, int group_size)> finish;
};

// Whether a call fits to an instance that began with these.
Status check_instance(const CollectiveParams& params, CollectiveType type, DType dtype, const Shape& shape);

class CollectiveParamResolver {
 public:
  using GroupDone = std::function<void(Status, std::shared_ptr<const CollectiveMembers>)>;
  using InstanceDone = std::function<void(Status, int source_rank)>;  // -1: no broadcast
  virtual ~CollectiveParamResolver() = default;
  // Calls done when the group is complete. A group that waits is given up when `cancellation` (may be null) is cancelled; it lives as long as `done`.
  virtual void complete_group_async(const CollectiveGroup& group, CancellationManager* cancellation, GroupDone done) = 0;
  // Calls done when it is known that this call fits to those of the other members; a broadcast waits for its source.
  virtual void complete_instance_async(const CollectiveParams& params, const CollectiveMembers& members, InstanceDone done) = 0;
  // All who wait, now or later, get this error.
  virtual void start_abort(const Status& status) = 0;
};

class CollectiveRemoteAccess {
 public:
  using Done = std::function<void(Status, Tensor)>;
  using Taken = std::function<void(Status)>;
  virtual ~CollectiveRemoteAccess() = default;
  // Messages of one key come in the order in which they were sent. `run` tells which call sends or receives. `taken` is called when the receiver has the
  // value: a member must not end, and with it perhaps its process, before the others have what they need.
  virtual void send(const std::string& to_device, const std::string& key, Tensor value, int64_t run, Taken taken) = 0;
  // What is received has this type and shape: other processes send bare bytes.
  virtual void recv_async(const std::string& from_device, const std::string& key, DType dtype, const Shape& shape, int64_t run, Done done) = 0;
  // A call that failed: what it sent and nobody received is dropped, what it waits for ends without a call of done or taken.
  virtual void retract(int64_t run) = 0;
  virtual void start_abort(const Status& status) = 0;
  // Calls what a call's end leads to, which may take long: where this thread must not be held up, on another.
  virtual void resume(int64_t, std::function<void()> then) { then(); }
  // This thread began a call, and may do for a short while what brings it to its end. `over`: it has ended. `under_way`: how many calls have not.
  virtual void help(int64_t, const std::atomic<bool>& /*over*/, const std::atomic<int>& /*under_way*/) {}
};

class CollectiveExecutor final : public core::Resource, public std::enable_shared_from_this<CollectiveExecutor> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow18CollectiveExecutorE";
  static constexpr const char* kContainer = "collective_executor";
  static constexpr const char* kName = "executor";
  using Done = std::function<void(Status, Tensor)>;
  CollectiveExecutor(std::unique_ptr<CollectiveParamResolver> resolver, std::unique_ptr<CollectiveRemoteAccess> access);
  ~CollectiveExecutor() override;
  std::string type_name() const override { return "CollectiveExecutor"; }

  // `input` is not read where the op has none. `done` is called once: from this thread, another member's or that of a deadline.
  void run_async(CollectiveParams params, Tensor input, CancellationManager* cancellation, Done done);
  void complete_group_async(const CollectiveGroup& group, double timeout_seconds, CancellationManager* cancellation,
                            std::function<void(Status)> done);
  // An error of one member is everybody's; all calls fail from now on.
  void start_abort(const Status& status);

 private:
  class Run;
  class Deadlines;
  Status error_of(const Status& s) const;

  const std::unique_ptr<CollectiveParamResolver> resolver_;
  const std::unique_ptr<CollectiveRemoteAccess> access_;
  std::unique_ptr<Deadlines> deadlines_;
  std::atomic<int64_t> next_run_{0};
  std::atomic<int> under_way_{0};
  mutable std::mutex mutex_;
  Status aborted_;
};

// For groups inside this process, and what others build upon.
std::unique_ptr<CollectiveParamResolver> make_local_resolver();
std::unique_ptr<CollectiveRemoteAccess> make_local_access();
std::shared_ptr<CollectiveExecutor> make_local_collectives();
// That of these resources, a local one if none was installed.
std::shared_ptr<CollectiveExecutor> collective_executor(ResourceManager& resources);

}  // namespace weft_engine::op
