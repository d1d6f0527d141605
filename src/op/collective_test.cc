// Collectives of one process: what a call may use after its end.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <future>

#include "op/collective.h"

namespace weft_engine::op {
namespace {

constexpr const char* kFirst = "/job:localhost/replica:0/task:0/device:CPU:0";
constexpr const char* kSecond = "/job:localhost/replica:0/task:0/device:CPU:1";

// A manager in memory that is gone with it.
class Fleeting {
 public:
  Fleeting() : page_(mmap(nullptr, size_t(getpagesize()), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(page_ != MAP_FAILED);
    manager_ = new (page_) CancellationManager;
  }
  Fleeting(const Fleeting&) = delete;
  ~Fleeting() {
    manager_->~CancellationManager();
    munmap(page_, size_t(getpagesize()));
  }
  CancellationManager* get() { return manager_; }

 private:
  void* const page_;
  CancellationManager* manager_;
};

// The local one; `between` is called after the member that completes the group has heard of it, and before the others do.
class Held final : public CollectiveParamResolver {
 public:
  explicit Held(std::function<void()> between) : between_(std::move(between)) {}
  void complete_group_async(const CollectiveGroup& group, CancellationManager* cancellation, GroupDone done) override {
    if (group.device == kFirst) return local_->complete_group_async(group, cancellation, std::move(done));
    local_->complete_group_async(group, cancellation, [this, done](Status s, std::shared_ptr<const CollectiveMembers> m) {
      done(std::move(s), std::move(m));
      between_();
    });
  }
  void complete_instance_async(const CollectiveParams& p, const CollectiveMembers& m, InstanceDone done) override {
    local_->complete_instance_async(p, m, std::move(done));
  }
  void start_abort(const Status& s) override { local_->start_abort(s); }

 private:
  const std::unique_ptr<CollectiveParamResolver> local_ = make_local_resolver();
  const std::function<void()> between_;
};

CollectiveParams member(const char* device, double timeout) {
  CollectiveParams p;
  p.group = {1, 2, -1, device};
  p.type = CollectiveType::kGather;
  p.instance_key = 1;
  p.dtype = DType::kFloat;
  p.shape = Shape({2});
  p.timeout_seconds = timeout;
  return p;
}

// The first member waits for the group until its deadline, which passes while the second completes it.
void check_end_by_deadline(const std::function<void(CollectiveExecutor&, CancellationManager*, std::function<void(Status)>)>& start_first) {
  auto caller = std::make_unique<Fleeting>();
  std::promise<Status> first, second;
  auto executor = std::make_shared<CollectiveExecutor>(std::make_unique<Held>([&] {
                                                         CHECK(first.get_future().get().code() == core::Code::kDeadlineExceeded);
                                                         caller.reset();
                                                       }),
                                                       make_local_access());
  start_first(*executor, caller->get(), [&](Status s) { first.set_value(std::move(s)); });
  executor->run_async(member(kSecond, 0), Tensor::scalar(1.0f).reshaped(Shape({1})), nullptr,
                      [&](Status s, const Tensor&) { second.set_value(std::move(s)); });
  CHECK(second.get_future().get().code() == core::Code::kDeadlineExceeded);
  CHECK_FALSE(caller);
}

TEST_CASE("a collective that its deadline ends while others complete the group leaves the caller's manager alone") {
  check_end_by_deadline([](CollectiveExecutor& e, CancellationManager* caller, std::function<void(Status)> done) {
    e.run_async(member(kFirst, 0.1), Tensor::scalar(1.0f).reshaped(Shape({1})), caller, [done](Status s, const Tensor&) { done(std::move(s)); });
  });
}

TEST_CASE("and so does one that only waits for the group") {
  check_end_by_deadline([](CollectiveExecutor& e, CancellationManager* caller, std::function<void(Status)> done) {
    e.complete_group_async(member(kFirst, 0).group, 0.1, caller, std::move(done));
  });
}

TEST_CASE("a collective is cancelled before and after its group is complete") {
  const auto cancelled_with = [](bool complete) {
    auto executor = make_local_collectives();
    CancellationManager caller;
    std::promise<Status> result;
    if (complete) executor->complete_group_async(member(kSecond, 0).group, 0, nullptr, [](const Status&) {});
    executor->run_async(member(kFirst, 0), Tensor::scalar(1.0f).reshaped(Shape({1})), &caller,
                        [&](Status s, const Tensor&) { result.set_value(std::move(s)); });
    caller.start_cancel();
    return result.get_future().get();
  };
  CHECK(cancelled_with(false).message() == "group is cancelled");
  CHECK(cancelled_with(true).message() == "Collective op is cancelled");
}

}  // namespace
}  // namespace weft_engine::op
