#include "api/nn/layer_state.h"
#include "api/nn/summary.h"
#include "api/nn/support.h"
#include "weft/function.h"
#include "weft/nn/model.h"

namespace weft::nn {

using namespace detail;

// Keras keeps a sequential model as a functional one, whose first operation is the input: these are the names in checkpoints.
class Sequential::Tracked : public Module {
 public:
  Tracked() : Module("functional") {}
  void set(const std::vector<std::shared_ptr<Layer>>& layers) {
    std::vector<std::shared_ptr<Module>> operations{input_};
    operations.insert(operations.end(), layers.begin(), layers.end());
    track("_operations", operations);
  }

 private:
  std::shared_ptr<Module> input_ = std::make_shared<Module>("input_layer");
};

Sequential::Sequential(const SequentialOptions& o)
    : LayerOf("Sequential", o.name),
      layers_(std::make_shared<std::vector<std::shared_ptr<Layer>>>()),
      tracked_(std::make_shared<Tracked>()),
      input_dtype_(o.dtype) {
  Module::track("_functional", *tracked_);
}

Sequential::Sequential(const std::vector<AnyLayer>& layers, const SequentialOptions& o) : Sequential(o) {
  for (const AnyLayer& l : layers) add(l);
  if (!o.input_shape.empty()) {
    std::vector<int64_t> shape = o.input_shape;
    shape.insert(shape.begin(), -1);
    build(shape);
  }
}
Sequential::Sequential(std::initializer_list<AnyLayer> layers, const SequentialOptions& o) : Sequential(std::vector<AnyLayer>(layers), o) {}

void Sequential::add(const AnyLayer& layer) {
  for (const auto& l : *layers_) {
    if (l->name() != layer->name()) continue;
    fail(Code::kInvalidArgument, "All layers added to a Sequential model should have unique names. Name '" + l->name() +
                                     "' is already the name of a layer in this model. Update the `name` argument to pass a unique name.");
  }
  layers_->push_back(layer.ptr());
  hold(*layer);
  tracked_->set(*layers_);
}

void Sequential::pop() {
  if (layers_->empty()) fail(Code::kInvalidArgument, "the Sequential model has no layer to remove");
  auto& held = state()->layers;
  std::erase(held, layers_->back()->state());
  layers_->pop_back();
  tracked_->set(*layers_);
}

void Sequential::build_many(const std::vector<PartialShape>&) {}  // the layers build themselves

void Sequential::build(const PartialShape& input) {
  const TensorSpec spec{"input", input_dtype_, input, ""};
  // Shapes are found by tracing; what the layers make is theirs.
  auto traced = function([this](const Tensor& x) { return (*this)(x); });
  traced.concrete_function({spec});
  state()->input_shapes = {input};
}

Tensor Sequential::call(const Tensor& x, const CallOptions& o) const {
  Tensor y = x, mask = o.mask;
  for (const auto& l : *layers_) {
    Tensor next = (*l)(y, {.training = o.training, .mask = mask});
    mask = l->compute_mask(y, mask);
    y = std::move(next);
  }
  return y;
}

Tensor Sequential::compute_mask(const Tensor& x, const Tensor& mask) const {
  Tensor out = mask, in = x;
  for (const auto& l : *layers_) {
    out = l->compute_mask(in, out);
    in = {};  // what masks are made of comes first
  }
  return out;
}

std::string Sequential::summary() const {
  std::vector<SummaryRow> rows;
  for (const auto& l : *layers_) rows.push_back(row_of(*l));
  return print_summary("sequential", *this, rows);
}

}  // namespace weft::nn
