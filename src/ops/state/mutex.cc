// MutexV2: a lock as a resource. MutexLock waits for it and gives a variant that holds it until the last
// copy is destroyed.
#include "op/registry.h"
#include "ops/all.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

class MutexResource final : public Resource, public std::enable_shared_from_this<MutexResource> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_15MutexE";
  static Result<std::shared_ptr<MutexResource>> make(const KernelContext&, const std::string&) { return std::make_shared<MutexResource>(); }
  Status check_shared(const KernelContext&) const { return {}; }
  std::string type_name() const override { return "Mutex"; }

  void lock(KernelContext& c, Kernel::Done done);
  void unlock() {
    waiters_.change([&] { locked_ = false; });
  }

 private:
  Waiters waiters_;
  bool locked_ = false;
};

struct HeldLock final : VariantObject {
  explicit HeldLock(std::shared_ptr<MutexResource> m) : mutex(std::move(m)) {}
  ~HeldLock() override { mutex->unlock(); }
  std::string type_name() const override { return "(anonymous)::SharedLockReleaser"; }
  std::shared_ptr<MutexResource> mutex;
};

void MutexResource::lock(KernelContext& c, Kernel::Done done) {
  auto attempt = [self = shared_from_this(), &c] {
    if (self->locked_) return Waiters::wait();
    self->locked_ = true;
    c.set_output(0, Tensor::scalar(Variant(std::make_shared<const HeldLock>(self))));
    return Waiters::finished();
  };
  waiters_.submit(Waiters::kFirst, std::move(attempt), std::move(done), {c.env().cancellation, "Lock acquisition cancelled.", nullptr});
}

void run_lock(KernelContext& c, Kernel::Done done) {
  auto mutex = c.resource<MutexResource>(0);
  if (!mutex.ok()) return done(mutex.status());
  (*mutex)->lock(c, std::move(done));
}

Status run_consume(KernelContext& c) {
  const Tensor& t = c.input(0);
  if (t.rank() != 0) return invalid_argument("Expected input to be a scalar, but saw shape: ", t.shape());
  const Variant& v = t.data<Variant>()[0];
  if (!v.get<HeldLock>())
    return invalid_argument("Expected input to contain a SharedLockReleaser object, but saw variant: 'Variant<type: ", v.type_name(), ">'");
  return {};
}

}  // namespace

void mutex(Registry& r) {
  r.add("ConsumeMutexLock").doc("Keeps a lock alive up to here.").in("mutex_lock: variant").stateful().shape(shapes::no_outputs).cpu(run_consume);

  r.add("MutexLock")
      .doc("Waits for a mutex and gives a value that holds it for as long as it lives.")
      .in("mutex: resource")
      .out("mutex_lock: variant")
      .full_type("MUTEX_LOCK")
      .stateful()
      .shape(shapes::scalar)
      .cpu_make(AsyncKernel<run_lock>::create);

  r.add("MutexV2")
      .doc("Makes or finds a mutex.")
      .out("resource: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<MutexResource>::create);
}

}  // namespace weft_engine::ops
