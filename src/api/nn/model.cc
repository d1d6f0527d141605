#include "weft/nn/model.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "api/nn/layer_state.h"
#include "api/nn/summary.h"
#include "api/nn/support.h"
#include "weft/function.h"

namespace weft::nn {

using namespace detail;

// One call of a layer.
struct Node {
  std::shared_ptr<Layer> layer;
  std::vector<KerasTensor> inputs;  // none: an input of the model
  std::vector<PartialShape> shapes;
  std::vector<DType> dtypes;
  int64_t id = 0;     // calls come in an order in which they can be run
  int nth_call = 0;   // of this layer
};

namespace {

int64_t next_id() {
  static std::atomic<int64_t> next{0};
  return next.fetch_add(1);
}

const Node& node_of(const KerasTensor& t) {
  if (!t.node()) fail(Code::kInvalidArgument, "a KerasTensor that no layer gave was used");
  return *t.node();
}

}  // namespace

const PartialShape& KerasTensor::shape() const { return node_of(*this).shapes[size_t(index_)]; }
DType KerasTensor::dtype() const { return node_of(*this).dtypes[size_t(index_)]; }
const std::string& KerasTensor::name() const { return node_of(*this).layer->name(); }

KerasTensor Input(const std::vector<int64_t>& shape, const InputOptions& o) {
  struct InputLayer : LayerOf<InputLayer> {
    explicit InputLayer(const std::string& name) : LayerOf("InputLayer", name) {}
    Tensor call(const Tensor& x, const CallOptions&) const override { return x; }
  };
  auto node = std::make_shared<Node>();
  node->layer = std::make_shared<InputLayer>(o.name);
  std::vector<int64_t> dims = shape;
  dims.insert(dims.begin(), o.batch_size);
  node->shapes = {dims};
  node->dtypes = {o.dtype};
  node->id = next_id();
  node->layer->state()->called = true;
  node->layer->state()->output_shapes = node->shapes;
  return {node, 0};
}

std::vector<KerasTensor> call_layer(const AnyLayer& layer, const std::vector<KerasTensor>& inputs) {
  if (inputs.empty()) fail(Code::kInvalidArgument, "Layer \"" + layer->name() + "\" was called without an input");
  auto node = std::make_shared<Node>();
  node->layer = layer.ptr();
  node->inputs = inputs;
  std::vector<PartialShape> shapes;
  std::vector<TensorSpec> specs;
  for (const KerasTensor& t : inputs) {
    shapes.push_back(t.shape());
    specs.push_back({"", t.dtype(), t.shape(), ""});
  }
  LayerState::build(*layer, shapes);
  // The shapes of the outputs are those that a graph of the layer has.
  const FunctionCore traced(TraceOptions{.name = layer->name()});
  const ConcreteFunction f = traced.concrete(specs, layer->name(), [&](const std::vector<Tensor>& in) {
    nest::Flat out;
    out.tensors = layer->apply(in);
    return out;
  });
  for (const TensorSpec& out : f.outputs()) {
    node->shapes.push_back(out.shape);
    node->dtypes.push_back(out.dtype);
  }
  node->id = next_id();
  node->nth_call = layer->state()->symbolic_calls++;
  std::vector<KerasTensor> out;
  for (size_t i = 0; i < node->shapes.size(); ++i) out.emplace_back(node, int(i));
  return out;
}

std::vector<KerasTensor> Layer::apply(const std::vector<KerasTensor>& inputs) const { return call_layer(clone(), inputs); }
KerasTensor Layer::operator()(const std::vector<KerasTensor>& inputs) const { return apply(inputs).at(0); }
KerasTensor Layer::operator()(const KerasTensor& x) const { return apply(std::vector<KerasTensor>{x}).at(0); }

struct Model::Plan {
  struct Step {
    std::shared_ptr<const Node> node;
    std::vector<size_t> inputs;  // slots
    size_t outputs;              // the first of its slots
  };
  std::vector<KerasTensor> inputs, outputs;
  std::vector<Step> steps;
  std::vector<size_t> input_slots, output_slots;
  size_t slots = 0;
  std::vector<std::shared_ptr<Layer>> layers;
  bool linear = true;  // each layer is called once, on the one before
};

namespace {

// The calls between outputs and inputs, and Keras' order of their layers: by the distance from the outputs, and where it is
// the same by the order in which a backward walk from them meets the layers.
class Walk {
 public:
  explicit Walk(const std::vector<KerasTensor>& inputs) {
    for (const KerasTensor& t : inputs) inputs_.insert(t.node().get());
  }

  void from(const KerasTensor& output) {
    // Explicit, since models may be deep.
    struct Frame {
      std::shared_ptr<const Node> node;
      size_t next;
    };
    std::vector<Frame> stack;
    auto enter = [&](const KerasTensor& t) {
      node_of(t);
      if (done_.count(t.node().get())) return;
      met_.try_emplace(t.node()->layer->state().get(), int(met_.size()));
      stack.push_back({t.node(), 0});
    };
    enter(output);
    while (!stack.empty()) {
      Frame& f = stack.back();
      const bool stop = inputs_.count(f.node.get()) > 0;
      if (!stop && f.next < f.node->inputs.size()) {
        enter(KerasTensor(f.node->inputs[f.next++]));
        continue;
      }
      if (!stop && f.node->inputs.empty())
        fail(Code::kInvalidArgument, "the output of the model depends on the input '" + f.node->layer->name() + "', which is not among its inputs");
      if (done_.insert(f.node.get()).second) nodes_.push_back(f.node);
      stack.pop_back();
    }
  }

  std::vector<std::shared_ptr<const Node>> nodes() const { return nodes_; }

  std::vector<std::shared_ptr<Layer>> layers(const std::vector<KerasTensor>& inputs) {
    std::map<const Node*, int> depth;
    std::map<const LayerState*, int> of_layer;
    std::map<const LayerState*, std::shared_ptr<Layer>> by_state;
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
      const Node& n = **it;
      const LayerState* s = n.layer->state().get();
      int& d = depth[&n];
      d = std::max(d, of_layer[s]);
      of_layer[s] = d;
      by_state.emplace(s, n.layer);
      if (inputs_.count(&n)) continue;
      for (const KerasTensor& t : n.inputs) {
        int& before = depth[t.node().get()];
        before = std::max(before, d + 1);
      }
    }
    for (const KerasTensor& t : inputs) {
      const LayerState* s = t.node()->layer->state().get();
      if (by_state.emplace(s, t.node()->layer).second) met_[s] = -1;
    }
    std::vector<std::shared_ptr<Layer>> out;
    for (const auto& [s, l] : by_state) out.push_back(l);
    std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
      const LayerState *x = a->state().get(), *y = b->state().get();
      return of_layer[x] != of_layer[y] ? of_layer[x] > of_layer[y] : met_[x] < met_[y];
    });
    return out;
  }

 private:
  std::set<const Node*> inputs_, done_;
  std::map<const LayerState*, int> met_;
  std::vector<std::shared_ptr<const Node>> nodes_;
};

}  // namespace

Model::Model(const std::vector<KerasTensor>& inputs, const std::vector<KerasTensor>& outputs, const std::string& name) : LayerOf("Functional", name) {
  if (inputs.empty() || outputs.empty()) fail(Code::kInvalidArgument, "a Model needs inputs and outputs");
  auto plan = std::make_shared<Plan>();
  plan->inputs = inputs;
  plan->outputs = outputs;
  Walk walk(inputs);
  for (const KerasTensor& t : outputs) walk.from(t);
  auto nodes = walk.nodes();
  plan->layers = walk.layers(inputs);
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a->id < b->id; });

  std::map<const Node*, size_t> first;
  auto slot = [&](const KerasTensor& t) { return first.at(t.node().get()) + size_t(t.index()); };
  for (const KerasTensor& t : inputs) {
    if (!first.try_emplace(t.node().get(), plan->slots).second) fail(Code::kInvalidArgument, "the input '" + t.name() + "' is given twice");
    plan->slots += t.node()->shapes.size();
    plan->input_slots.push_back(slot(t));
  }
  for (const auto& n : nodes) {
    if (first.count(n.get())) continue;
    Plan::Step s{n, {}, plan->slots};
    for (const KerasTensor& t : n->inputs) s.inputs.push_back(slot(t));
    first[n.get()] = plan->slots;
    plan->slots += n->shapes.size();
    plan->linear = plan->linear && n->inputs.size() == 1 && s.inputs[0] + 1 == s.outputs && n->nth_call == 0;
    plan->steps.push_back(std::move(s));
  }
  plan->linear = plan->linear && inputs.size() == 1 && outputs.size() == 1;
  for (const KerasTensor& t : outputs) plan->output_slots.push_back(slot(t));

  std::set<std::string> seen;
  for (const auto& l : plan->layers) {
    if (!seen.insert(l->name()).second)
      fail(Code::kInvalidArgument, "The name \"" + l->name() + "\" is used more than once in the model. All layer names should be unique.");
    hold(*l);
  }
  Module::track("_operations", plan->layers);
  plan_ = std::move(plan);
}

Model::Model(const KerasTensor& input, const KerasTensor& output, const std::string& name)
    : Model(std::vector<KerasTensor>{input}, std::vector<KerasTensor>{output}, name) {}

const std::vector<std::shared_ptr<Layer>>& Model::layers() const { return plan_->layers; }
const std::vector<KerasTensor>& Model::inputs() const { return plan_->inputs; }
const std::vector<KerasTensor>& Model::outputs() const { return plan_->outputs; }

std::shared_ptr<Layer> Model::get_layer(const std::string& name) const {
  for (const auto& l : plan_->layers)
    if (l->name() == name) return l;
  std::string have;
  for (const auto& l : plan_->layers) have += (have.empty() ? "'" : ", '") + l->name() + "'";
  fail(Code::kNotFound, "No such layer: " + name + ". Existing layers are: [" + have + "].");
}

Tensor Model::call(const Tensor& x, const CallOptions& o) const { return call_many({x}, o)[0]; }

std::vector<Tensor> Model::call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const {
  const Plan& p = *plan_;
  if (inputs.size() != p.inputs.size()) {
    fail(Code::kInvalidArgument, "Layer \"" + name() + "\" expects " + std::to_string(p.inputs.size()) + " input(s), but it received " +
                                     std::to_string(inputs.size()) + " input tensors.");
  }
  std::vector<Tensor> values(p.slots), masks(p.slots);
  for (size_t i = 0; i < inputs.size(); ++i) values[p.input_slots[i]] = inputs[i];
  masks[p.input_slots[0]] = o.mask;
  for (const Plan::Step& s : p.steps) {
    std::vector<Tensor> in, in_masks;
    for (size_t i : s.inputs) {
      in.push_back(values[i]);
      in_masks.push_back(masks[i]);
    }
    const Layer& layer = *s.node->layer;
    std::vector<Tensor> out = layer.apply(in, {.training = o.training, .mask = in_masks[0]});
    if (out.size() != s.node->shapes.size())
      fail(Code::kInternal, "Layer \"" + layer.name() + "\" gave another number of outputs than it did before");
    masks[s.outputs] = layer.compute_mask_many(in, in_masks);
    for (size_t i = 0; i < out.size(); ++i) values[s.outputs + i] = std::move(out[i]);
  }
  std::vector<Tensor> out;
  for (size_t i : p.output_slots) out.push_back(values[i]);
  return out;
}

Tensor Model::compute_mask(const Tensor& x, const Tensor& mask) const { return compute_mask_many({x}, {mask}); }

Tensor Model::compute_mask_many(const std::vector<Tensor>& inputs, const std::vector<Tensor>& given) const {
  const Plan& p = *plan_;
  std::vector<Tensor> values(p.slots), masks(p.slots);
  for (size_t i = 0; i < inputs.size() && i < p.input_slots.size(); ++i) {
    values[p.input_slots[i]] = inputs[i];
    masks[p.input_slots[i]] = given[i];
  }
  for (const Plan::Step& s : p.steps) {
    std::vector<Tensor> in, in_masks;
    for (size_t i : s.inputs) {
      in.push_back(values[i]);
      in_masks.push_back(masks[i]);
    }
    masks[s.outputs] = s.node->layer->compute_mask_many(in, in_masks);
  }
  return masks[p.output_slots[0]];
}

std::string Model::summary() const {
  std::vector<SummaryRow> rows;
  for (const auto& l : plan_->layers) {
    SummaryRow r = row_of(*l);
    for (const Plan::Step& s : plan_->steps) {
      if (s.node->layer->state() != l->state()) continue;
      for (const KerasTensor& t : s.node->inputs) {
        r.connected +=
            (r.connected.empty() ? "" : ", ") + t.name() + "[" + std::to_string(t.node()->nth_call) + "][" + std::to_string(t.index()) + "]";
      }
    }
    if (r.connected.empty()) r.connected = "-";
    rows.push_back(std::move(r));
  }
  return print_summary(plan_->linear ? "sequential" : "functional", *this, rows);
}

}  // namespace weft::nn
