// weft's side of the exchange of checkpoints with TensorFlow (interop_checkpoints.py is the other):
//   checkpoint_side write DIR             nested objects, all types, slots, one written over, a managed folder, a Sequential with Adam
//   checkpoint_side train PREFIX          restores a Sequential with its optimiser and trains on, 20 steps
//   checkpoint_side train_late PREFIX     the same, restored before the layers have weights
//   checkpoint_side values PREFIX         nested objects restored; their values
// Numbers go to stdout: a name and values on each line.
#include "trace/trackable.h"
#include "trace/variable.h"

#include <weft/nn.h>
#include <weft/optim.h>
#include <weft/weft.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace weft;  // NOLINT
using namespace weft_engine;  // NOLINT

namespace {

Tensor grid(std::vector<int64_t> shape, float step, float start) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  std::vector<float> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(start + step * float(i % 11) - 0.02f * float(i % 7));
  return Tensor::of<float>(std::move(shape), std::span<const float>(v));
}

void print(const char* name, const Tensor& t) {
  std::printf("%s", name);
  for (float v : cast(t, DType::float32).to_vector<float>()) std::printf(" %.9g", v);
  std::printf("\n");
}

struct Layer : Module {
  Variable w, b;
  Layer(int64_t n, float start) : w(grid({n, n}, 0.5f, start), {.name = "w"}), b(grid({n}, 0.25f, -start), {.name = "b"}) {
    track("w", w);
    track("b", b);
  }
};

struct Nested : Module {
  Layer first{2, 1.f};
  std::vector<Layer> layers{Layer(1, 2.f), Layer(3, 4.f)};
  std::map<std::string, Variable> table{{"left", Variable(Tensor(1.5f), {.name = "left"})},
                                        {"with/slash.dot", Variable(Tensor(-2.5f), {.name = "odd"})}};
  Nested() {
    track("first", first);
    track("layers", layers);
    track("table", table);
    track("again", layers[1]);
  }
};

struct Types : Module {
  std::vector<Variable> all;
  Types() {
    const std::vector<std::pair<const char*, DType>> types = {
        {"half", DType::float16},        {"bfloat16", DType::bfloat16},    {"float32", DType::float32}, {"float64", DType::float64},
        {"int8", DType::int8},           {"uint8", DType::uint8},          {"int16", DType::int16},     {"uint16", DType::uint16},
        {"int32", DType::int32},         {"uint32", DType::uint32},        {"int64", DType::int64},     {"uint64", DType::uint64},
        {"complex64", DType::complex64}, {"complex128", DType::complex128}};
    for (const auto& [name, dtype] : types) add(name, Variable(cast(Tensor{1.f, 2.f, 3.f}, dtype), {.name = name}));
    add("bool", Variable(cast(Tensor{1.f, 0.f}, DType::boolean), {.name = "bool"}));
    add("string", Variable(Tensor::of_strings({3}, {"", "a", std::string(300, 'b')}), {.name = "string"}));
    add("empty", Variable(zeros({0, 3}), {.name = "empty"}));
    add("open", Variable(grid({2, 3}, 1.f, 0.f), {.name = "open", .shape = {-1, 3}}));
  }
  void add(const std::string& name, Variable v) {
    track(name, v);
    all.push_back(v);
  }
};

struct Plain : Module {
  using Module::track;
};

const Tensor kX = grid({16, 4}, 0.1f, -0.5f), kY = grid({16, 1}, 0.07f, -0.3f);

struct Training {
  nn::Sequential model{nn::Dense(8, "tanh"), nn::Dense(1)};
  nn::Adam optimizer{nn::AdamOptions{.learning_rate = 0.01}};
  Checkpoint checkpoint{{{"model", model}, {"optimizer", optimizer}}};
  Tensor step() {
    GradientTape tape;
    Tensor loss = reduce_mean(square(model(kX) - kY));
    auto variables = model.trainable_variables();
    optimizer.apply(tape.gradient(loss, variables), variables);
    return loss;
  }
  void build() {
    model(kX);
    optimizer.build(model.trainable_variables());
  }
  void train_on() {
    print("predictions", model(kX));
    for (int i = 0; i < 20; ++i) print("loss", step());
  }
};

void write(const std::string& dir) {
  {
    Nested nested;
    Variable step(Tensor(int64_t(0)), {.name = "step"});
    Checkpoint checkpoint({{"step", step}, {"model", nested}});
    checkpoint.save(dir + "/nested");
    step.assign(Tensor(int64_t(3)));
    nested.first.w.assign_add(ones({2, 2}));
    checkpoint.save(dir + "/nested");
    print("first", nested.first.w.value());
    Checkpoint(nested, {{"step", step}}).write(dir + "/rooted");
    checkpoint.write(dir + "/over");
    step.assign(Tensor(int64_t(4)));
    checkpoint.write(dir + "/over");  // the second is in two data files
    CheckpointManager manager(checkpoint, dir + "/managed", {.max_to_keep = 2});
    for (int i = 0; i < 4; ++i) manager.save();
  }
  Checkpoint(Types()).write(dir + "/types");
  {
    Layer model(2, 1.f);
    Plain optimizer;
    optimizer.track("beta1_power", Variable(Tensor(0.9f), {.name = "beta1_power"}));
    optimizer.track("beta2_power", Variable(Tensor(0.999f), {.name = "beta2_power"}));
    for (const char* slot : {"m", "v"}) {
      for (const Variable& v : {model.w, model.b}) {
        Variable made(v.value() * (slot[0] == 'm' ? 2.f : 3.f), {.name = v.name() + (slot[0] == 'm' ? "/Adam" : "/Adam_1")});
        if (!optimizer.tracking()->add_slot(slot, v.state(), made.state()).ok()) std::exit(1);
      }
    }
    Checkpoint({{"model", model}, {"optimizer", optimizer}}).write(dir + "/slots");
  }
  Training training;
  for (int i = 0; i < 5; ++i) training.step();
  training.checkpoint.write(dir + "/keras");
  training.train_on();
}

void train(const std::string& prefix, bool late) {
  Training training;
  if (!late) training.build();
  auto status = training.checkpoint.read(prefix);
  if (late) training.build();
  status.assert_existing_objects_matched().expect_partial();
  training.train_on();
}

void values(const std::string& prefix) {
  Nested nested;
  Variable step(Tensor(int64_t(0)), {.name = "step"});
  Checkpoint checkpoint({{"step", step}, {"model", nested}});
  checkpoint.restore(prefix).assert_consumed();
  print("step", step.value());
  print("first", nested.first.w.value());
  print("last", nested.layers[1].b.value());
  print("odd", nested.table.at("with/slash.dot").value());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    if (!std::strcmp(argv[1], "write")) write(argv[2]);
    else if (!std::strcmp(argv[1], "values")) values(argv[2]);
    else train(argv[2], !std::strcmp(argv[1], "train_late"));
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
