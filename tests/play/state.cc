// Plays recorded sequences of stateful op calls (tests/ops/state/README.md) and compares every answer,
// also error codes and texts, with TensorFlow's.
//
//   play state [--texts] FILE...
//
// --texts counts a different error text under the right code as a failure too.
#include "eager/op.h"
#include "engine/engine.h"
#include "op/variable.h"
#include "tests/play/play.h"
#include "tests/support/cases.h"
#include "tests/support/report.h"

namespace weft_engine::testing {
namespace {

bool compare_texts = false;

std::string first_line(const std::string& s) { return s.substr(0, s.find('\n')); }

// Numbers of TensorArrays differ from process to process; the recording writes them as '#'.
std::string without_numbers(std::string s) {
  const std::string mark = "TensorArrayV3_";
  for (size_t at = s.find(mark); at != std::string::npos; at = s.find(mark, at + 1)) {
    size_t end = at + mark.size();
    while (end < s.size() && std::isdigit(static_cast<unsigned char>(s[end]))) s.erase(end, 1);
    if (end == s.size() || s[end] != '#') s.insert(end, "#");
  }
  return s;
}

std::string compare(const Status& status, const std::vector<Tensor>& outputs, const SeqStep& step) {
  if (int(status.code()) != step.error_code) return cat("gives ", status.to_string(), ", expected code ", step.error_code, " ", step.error_message);
  if (step.error_code) {
    if (compare_texts && !step.error_message.empty() && without_numbers(first_line(status.message())) != without_numbers(step.error_message))
      return cat("says '", first_line(status.message()), "', expected '", step.error_message, "'");
    return {};
  }
  return difference(outputs, step.outputs);
}

// Eager sequences: one context, handles kept to the end.
class EagerPlayer {
 public:
  EagerPlayer() : context_(engine::Engine::get().registry(), {}) {}
  std::string play(const SeqStep& step) {
    eager::Op op(context_);
    std::vector<RefPtr<eager::TensorHandle>> handles;
    std::vector<Tensor> outputs;
    Status s = call(op, step, handles);
    for (auto& h : handles) outputs.push_back(h->tensor());
    steps_.push_back(std::move(handles));
    return compare(s, outputs, step);
  }

 private:
  Status call(eager::Op& op, const SeqStep& step, std::vector<RefPtr<eager::TensorHandle>>& handles) {
    WEFT_RETURN_IF_ERROR(op.reset(step.op));
    for (const auto& [k, v] : step.attrs) WEFT_RETURN_IF_ERROR(op.set_attr(k, v));
    for (const auto& arg : step.inputs) {
      if (!arg.is_ref) {
        op.add_input(eager::TensorHandle::make(*arg.tensor, nullptr));
        continue;
      }
      const auto& from = steps_.at(size_t(arg.step));
      if (size_t(arg.output) >= from.size()) return internal_error("step ", arg.step, " has no output ", arg.output);
      op.add_input(from[size_t(arg.output)]);
    }
    return op.execute(handles);
  }
  eager::Context context_;
  std::vector<std::vector<RefPtr<eager::TensorHandle>>> steps_;
};

// Ref sequences: kernels are called directly. A step without inputs runs when a later one first asks for it.
class RefPlayer {
 public:
  RefPlayer() : devices_(DeviceSet::cpus(1)), pool_(1), env_{devices_->host(), &pool_, &resources_, &resources_, 0} {}
  std::string play(const SeqStep& step, bool compare_it) {
    calls_.push_back(std::make_unique<Call>());
    Call& call = *calls_.back();
    call.step = step;
    call.name = cat(step.op, "_", calls_.size());  // recorded names are op names; a variable's name must be its own
    if (step.inputs.empty()) return {};
    Status s = run(call);
    std::vector<Tensor> values;
    for (size_t i = 0; i < call.outputs.size(); ++i) values.push_back(call.refs[i] ? call.refs[i]->tensor() : call.outputs[i]);
    return compare_it || step.error_code ? compare(s, values, step) : s.ok() ? "" : s.to_string();
  }

 private:
  struct Call {
    SeqStep step;
    std::string name;
    std::unique_ptr<op::NodeInfo> node;
    std::unique_ptr<op::Kernel> kernel;
    std::vector<Tensor> outputs;
    std::vector<op::RefVariable*> refs;
    bool done = false;
  };
  Status run(Call& call) {
    if (call.done) return {};
    std::vector<const Tensor*> inputs;
    std::vector<op::RefVariable*> refs;
    std::vector<DType> types;
    bool uninitialized = false;
    for (const auto& arg : call.step.inputs) {
      if (!arg.is_ref) {
        inputs.push_back(&*arg.tensor);
        refs.push_back(nullptr);
      } else {
        Call& from = *calls_.at(size_t(arg.step));
        WEFT_RETURN_IF_ERROR(run(from));
        refs.push_back(from.refs.at(size_t(arg.output)));
        inputs.push_back(refs.back() ? &refs.back()->tensor() : &from.outputs.at(size_t(arg.output)));
        uninitialized |= refs.back() && !refs.back()->initialized();
      }
      types.push_back(arg.is_ref ? from_type(call, arg) : inputs.back()->dtype());
    }
    auto& registry = engine::Engine::get().registry();
    WEFT_ASSIGN(const op::OpSpec* spec, registry.get(call.step.op));
    WEFT_ASSIGN(op::NodeInfo node, op::NodeInfo::make(*spec, call.name, call.step.attrs, types));
    call.node = std::make_unique<op::NodeInfo>(std::move(node));
    // The executors look at references before a kernel runs.
    if (uninitialized && !spec->allows_uninitialized_input) return failed_precondition("Attempting to use uninitialized value");
    WEFT_ASSIGN(call.kernel, op::make_kernel(registry, *call.node, "CPU"));
    call.outputs.resize(size_t(call.node->num_outputs()));
    call.refs.resize(call.outputs.size());
    op::KernelContext c(*call.node, env_, inputs, call.outputs);
    c.set_refs(refs, call.refs);
    WEFT_RETURN_IF_ERROR(call.kernel->run(c));
    call.done = true;
    return {};
  }
  DType from_type(const Call&, const SeqStep::Arg& arg) {
    const Call& from = *calls_.at(size_t(arg.step));
    return base_type(from.node->output_types().at(size_t(arg.output)));
  }
  std::unique_ptr<DeviceSet> devices_;
  ThreadPool pool_;
  op::ResourceManager resources_;
  op::KernelEnv env_;
  std::vector<std::unique_ptr<Call>> calls_;
};

std::string play(const std::vector<SeqStep>& steps, int& at) {
  const bool ref = steps[0].ref;
  auto eager = ref ? nullptr : std::make_unique<EagerPlayer>();
  auto refs = ref ? std::make_unique<RefPlayer>() : nullptr;
  const bool one_run = steps[0].sequence.find("one_run/") != std::string::npos;
  for (at = 0; size_t(at) < steps.size(); ++at) {
    const SeqStep& step = steps[size_t(at)];
    std::string why = ref ? refs->play(step, !one_run || size_t(at) + 1 == steps.size()) : eager->play(step);
    if (!why.empty()) return cat(step.op, " ", why);
  }
  return {};
}

}  // namespace

int play_state(const Words& words) {
  Arguments a;
  if (!a.usual().flag("--texts", &compare_texts).parse(words)) return 2;
  Report report(a.known, a.fails);
  size_t calls = 0;
  const bool read = each_sequence(a.files, a.only, [&](const std::vector<SeqStep>& sequence) {
    calls += sequence.size();
    int at = 0;
    const std::string why = play(sequence, at);
    report.add(sequence[0].sequence, cat("step ", at), why);
  });
  return read ? report.finish(cat("sequences (", calls, " calls)")) : 2;
}

}  // namespace weft_engine::testing
