#include "remote/peers.h"

#include "core/device_name.h"
#include "core/threads.h"
#include "op/step_resources.h"
#include "remote/resource_names.h"
#include "runtime/server.h"

namespace weft_engine::remote {

namespace {

// Numbers of ops that neither the client, which counts from one, nor another task of its context uses: a block for each task. They have 31 bits, since TensorFlow's tasks keep no
// more of the number under which they store a result.
constexpr int kBlockBits = 20, kTaskBits = 10;

int64_t block_of(const std::string& task, const std::map<std::string, uint64_t>& devices) {
  std::set<std::string> tasks;
  for (const auto& [device, incarnation] : devices) tasks.insert(task_of(device));
  const auto index = std::distance(tasks.begin(), tasks.lower_bound(task));
  return int64_t(1) << (kBlockBits + kTaskBits) | (int64_t(index) & ((1 << kTaskBits) - 1)) << kBlockBits;
}

}  // namespace

Peers::Peers(eager::Context& context, int64_t op_block, std::shared_ptr<Connections> connections, std::shared_ptr<StepTable> steps)
    : context_(context), connections_(std::move(connections)), steps_(std::move(steps)), op_block_(op_block), next_op_(random_id()) {}

int64_t Peers::next_op() { return op_block_ | int64_t(next_op_.fetch_add(1) & ((1 << kBlockBits) - 1)); }

Peers::~Peers() {
  for (auto& [name, t] : tasks_) t->close(false, 0);  // the context there is the client's
}

Result<std::shared_ptr<Peers>> Peers::make(eager::Context& context, uint64_t context_id, const std::string& task,
                                           const std::map<std::string, uint64_t>& devices, std::shared_ptr<Connections> connections,
                                           std::shared_ptr<StepTable> steps) {
  std::shared_ptr<Peers> peers(new Peers(context, block_of(task, devices), std::move(connections), std::move(steps)));
  std::vector<std::unique_ptr<Device>> all;
  for (const auto& d : context.devices().all()) {
    const DeviceName& name = d->parsed_name();
    all.push_back(runtime::make_task_cpu(*name.job, *name.task, *name.id));
  }
  for (const auto& [device, incarnation] : devices) {
    const std::string home = task_of(device);
    auto name = DeviceName::parse(device);
    if (home.empty() || home == task || !name.ok() || !name->complete()) continue;
    auto& there = peers->tasks_[home];
    if (!there) {
      WEFT_ASSIGN(std::shared_ptr<Channel> channel, peers->connections_->to(home));
      there = std::make_shared<Task>(home, std::move(channel), context_id);
    }
    const DeviceAttributes attributes{device, *name->type, 0, incarnation};
    all.push_back(std::make_unique<TaskDevice>(std::move(name).value(), attributes, there, peers));
  }
  static std::mutex mutex;
  static auto* sets = new std::vector<std::unique_ptr<DeviceSet>>;
  {
    std::lock_guard lock(mutex);
    sets->push_back(std::make_unique<DeviceSet>(std::move(all)));
    peers->devices_ = sets->back().get();
  }
  runtime::RuntimeOptions r;
  r.registry = &context.registry();
  r.devices = peers->devices_;
  r.pool = &context.pool();
  r.inter = &context.pool();
  r.resources = &context.resources();
  r.soft_placement = &context.soft_placement;
  r.log_device_placement = &context.log_device_placement;
  peers->runtime_ = std::make_unique<runtime::FunctionLibraryRuntime>(std::move(r), context.runtime().library());
  return peers;
}

Result<Tensor> Peers::reference(const RemoteTensorHandle& handle) const {
  WEFT_ASSIGN(Device* device, devices_->resolve(handle.device, false));
  auto* there = dynamic_cast<TaskDevice*>(device);
  if (!there) return invalid_argument(handle.device, " is not a device of another task");
  auto known = std::make_shared<Answer>();
  known->finish({}, {});
  return core::reference_to(std::make_shared<Output>(*there, handle.op_id, handle.output_num, handle.dtype, std::move(known), /*owned=*/false));
}

static op::AttrMap attrs_of(const op::OpSpec& spec, const Operation& call) {
  op::AttrMap out;
  for (const auto& [name, value] : call.attrs) {
    if (spec.signature().attr_index(name) >= 0) out[name] = value;
  }
  return out;
}

Result<std::vector<Tensor>> Peers::run_op(const Operation& call, std::vector<Tensor> args, op::CancellationManager& cancellation) {
  const op::OpSpec* spec = context_.registry().find(call.name);
  if (!spec) return not_found("Op type not registered '", call.name, "'");
  std::vector<DType> types;
  std::vector<const Tensor*> inputs;
  for (const Tensor& t : args) {
    types.push_back(t.dtype());
    inputs.push_back(&t);
  }
  WEFT_ASSIGN(op::NodeInfo node, op::NodeInfo::make(*spec, call.name, attrs_of(*spec, call), types));
  Device* const device = devices_->host();
  WEFT_ASSIGN(std::unique_ptr<op::Kernel> kernel, op::make_kernel(context_.registry(), node, device->type()));
  op::KernelEnv env = runtime_->step_env();
  env.device = device;
  env.cancellation = &cancellation;
  env.trace = context_.trace.load(std::memory_order_relaxed);
  std::vector<Tensor> rets(node.output_types().size());
  op::KernelContext c(node, env, inputs, rets);
  if (kernel->is_async()) return unimplemented(call.name, " with functions over several tasks");
  Status s = core::without_exceptions([&] { return kernel->run(c); });
  if (!s.ok() || op::steps_have_resources()) runtime_->step_failed(env.step_id);
  WEFT_RETURN_IF_ERROR(std::move(s));
  return rets;
}

Result<std::vector<Tensor>> Peers::run(const Operation& call, std::vector<Tensor> args, op::CancellationManager& cancellation) {
  const op::OpSpec* spec = context_.functions().find_spec(call.name);
  if (!spec) return not_found("function ", call.name, " was not registered");
  auto attrs = std::make_shared<op::AttrMap>(attrs_of(*spec, call));
  WEFT_ASSIGN(Device* device, devices_->resolve(call.device, true));
  if (!device) device = devices_->host();
  op::InstantiateOptions options;
  options.target = device->name();
  for (const Tensor& t : args) {
    std::string& where = options.input_devices.emplace_back();
    if (t.dtype() != DType::kResource) continue;
    where = resource_device(t);
    if (where.empty() || !devices_->resolve(where, false).ok()) where = devices_->host()->name();
  }
  WEFT_ASSIGN(auto function, runtime_->instantiate({call.name, attrs}, options));
  if (args.size() != function->arg_types().size())
    return invalid_argument("function ", call.name, " has ", function->arg_types().size(), " arguments, got ", args.size());
  op::KernelEnv env = runtime_->step_env();
  env.device = device;
  env.cancellation = &cancellation;
  env.trace = context_.trace.load(std::memory_order_relaxed);
  std::vector<Tensor> rets(function->ret_types().size());
  Status s = function->run(env, args, rets);
  if (!s.ok() || op::steps_have_resources()) runtime_->step_failed(env.step_id);
  WEFT_RETURN_IF_ERROR(std::move(s));
  return rets;
}

Result<std::shared_ptr<op::Rendezvous>> Peers::start_step() { return start_function_step(steps_, connections_); }

}  // namespace weft_engine::remote
