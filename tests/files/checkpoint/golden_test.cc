// Checkpoints that TensorFlow wrote (recorded/make.py): their values arrive, and the same objects saved by weft are
// described by the same bytes.
#include "trace/trackable.h"
#include "trace/variable.h"

#include "tests/files/checkpoint/support.h"

#include <sstream>

namespace {

constexpr const char* kGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";
const std::string kGolden = "tests/files/checkpoint/recorded/";

struct Line {
  std::string key, dtype;
  std::vector<int64_t> shape;
  std::vector<std::string> values;
};

std::vector<std::string> split(const std::string& s, char by) {
  std::vector<std::string> out;
  std::stringstream in(s);
  for (std::string part; std::getline(in, part, by);) out.push_back(part);
  return out;
}

// What make.py says of a checkpoint.
std::vector<Line> lines_of(const std::string& prefix) {
  std::vector<Line> out;
  std::ifstream in(prefix + ".txt");
  REQUIRE(in.good());
  for (std::string text; std::getline(in, text);) {
    auto parts = split(text, '\t');
    parts.resize(4);
    Line line{parts[0], parts[1], {}, split(parts[3], ' ')};
    for (const auto& d : split(parts[2], ',')) line.shape.push_back(std::stoll(d));
    if (line.dtype == "string" && line.values.empty()) line.values.emplace_back();
    out.push_back(std::move(line));
  }
  return out;
}

std::string unhex(const std::string& s) {
  std::string out;
  for (size_t i = 0; i + 1 < s.size(); i += 2) out += char(std::stoi(s.substr(i, 2), nullptr, 16));
  return out;
}

void check_value(const Tensor& t, const Line& line) {
  CAPTURE(line.key);
  CHECK(t.shape() == line.shape);
  if (line.dtype == "string") {
    std::vector<std::string> expected;
    for (const auto& v : line.values) expected.push_back(unhex(v));
    CHECK(t.strings() == expected);
    return;
  }
  std::vector<double> expected;
  for (const auto& v : line.values) expected.push_back(std::stod(v));
  if (line.dtype.starts_with("complex")) {
    const Tensor wide = cast(t, DType::complex128);
    const auto* parts = reinterpret_cast<const double*>(wide.bytes().data());
    CHECK(std::vector<double>(parts, parts + 2 * wide.size()) == expected);
    return;
  }
  CHECK(cast(t, DType::float64).to_vector<double>() == expected);
}

const Line& line_of(const std::vector<Line>& lines, const std::string& key) {
  for (const auto& l : lines) {
    if (l.key == key) return l;
  }
  FAIL("no line for " << key);
  return lines[0];
}

// What weft writes of the same objects says the same.
void check_saved(const std::string& golden, const std::string& mine) {
  const auto lines = lines_of(golden);
  const auto entries = list_variables(mine);
  REQUIRE(entries.size() == lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    CHECK(entries[i].key == lines[i].key);
    check_value(load_variable(mine, lines[i].key), lines[i]);
  }
}

Tensor zeros_of(DType dtype, std::vector<int64_t> shape) { return cast(full(std::move(shape), 0.f), dtype); }
Variable zero(std::vector<int64_t> shape, const std::string& name, DType dtype = DType::float32) {
  return Variable(zeros_of(dtype, std::move(shape)), {.name = name});
}

struct Dense : Module {
  Variable w, b;
  explicit Dense(int64_t n) : w(zero({n, n}, "w")), b(zero({n}, "b")) {
    track("w", w);
    track("b", b);
  }
};

struct Group : Module {
  using Module::track;
};

struct Nested : Module {
  Dense first{2};
  std::vector<Dense> layers{Dense(1), Dense(3)};
  std::map<std::string, Variable> table{{"left", zero({}, "left")}, {"with/slash.dot", zero({}, "odd")}};
  Group empty, pair;
  Nested() {
    track("first", first);
    track("layers", layers);
    track("table", table);
    track("again", layers[1]);
    track("empty", empty);
    pair.track("0", zero({2}, "pair", DType::int32));
    pair.track("1", Dense(1));
    track("pair", pair);
  }
};

struct Types : Module {
  std::map<std::string, Variable> all;
  void add(const std::string& name, Variable v) {
    track(name, v);
    all.emplace(name, v);
  }
  Types() {
    const std::vector<std::pair<const char*, DType>> numbers = {
        {"half", DType::float16}, {"bfloat16", DType::bfloat16}, {"float32", DType::float32}, {"float64", DType::float64},
        {"int8", DType::int8},    {"uint8", DType::uint8},       {"int16", DType::int16},     {"uint16", DType::uint16},
        {"int32", DType::int32},  {"uint32", DType::uint32},     {"int64", DType::int64},     {"uint64", DType::uint64}};
    for (const auto& [name, dtype] : numbers) add(name, zero({3}, name, dtype));
    add("bool", zero({2}, "bool", DType::boolean));
    add("complex64", zero({1}, "complex64", DType::complex64));
    add("complex128", zero({1}, "complex128", DType::complex128));
    add("string", Variable(Tensor::of_strings({3}, {"x", "y", "z"}), {.name = "string"}));
    add("scalar", zero({}, "scalar"));
    add("empty", zero({0, 3}, "empty"));
    add("open", Variable(full({1, 3}, 0), {.name = "open", .shape = {-1, 3}}));
    add("unknown", Variable(full({1, 1}, 0), {.name = "unknown", .unknown_rank = true}));
  }
};

}  // namespace

TEST_CASE("modules with lists, maps and shared objects") {
  Folder dir;
  Nested model;
  Variable step = zero({}, "step", DType::int64);
  Checkpoint checkpoint({{"step", step}, {"model", model}});
  checkpoint.restore(kGolden + "modules/ckpt-2").assert_consumed();
  CHECK(step.value().item<int64_t>() == 3);
  CHECK(model.first.w.value().to_vector<float>() == std::vector<float>{2, 3, 4, 5});
  CHECK(model.table.at("with/slash.dot").value().item<float>() == -2.5f);
  CHECK(checkpoint.save_counter().value().item<int64_t>() == 2);
  checkpoint.write(dir / "w");
  check_saved(kGolden + "modules/ckpt-2", dir / "w");
}

TEST_CASE("a root object with attached children") {
  Folder dir;
  Nested model;
  Variable step = zero({}, "step", DType::int64);
  Checkpoint checkpoint(model, {{"step", step}});
  checkpoint.read(kGolden + "modules/rooted").assert_consumed();
  CHECK(step.value().item<int64_t>() == 3);
  checkpoint.write(dir / "w");
  check_saved(kGolden + "modules/rooted", dir / "w");
}

TEST_CASE("every type of variable, and open shapes") {
  Folder dir;
  Types types;
  Checkpoint checkpoint(types);
  checkpoint.read(kGolden + "modules/types").assert_consumed();
  const auto lines = lines_of(kGolden + "modules/types");
  for (const auto& [name, v] : types.all) check_value(v.value(), line_of(lines, name + "/.ATTRIBUTES/VARIABLE_VALUE"));
  checkpoint.write(dir / "w");
  check_saved(kGolden + "modules/types", dir / "w");
}

TEST_CASE("values for objects that come later") {
  struct Late : Module {
    using Module::track;
  } root, model;
  Variable step = zero({}, "step", DType::int64);
  Checkpoint checkpoint({{"model", model}});
  auto status = checkpoint.restore(kGolden + "modules/ckpt-2");
  CHECK(error_of([&] { status.assert_consumed(); }).find("Unresolved object in checkpoint (root).step: attributes {") != std::string::npos);
  status.assert_existing_objects_matched();
  checkpoint.track("step", step);
  CHECK(step.value().item<int64_t>() == 3);
  Dense first(2);
  model.track("first", first);
  CHECK(first.w.value().to_vector<float>() == std::vector<float>{2, 3, 4, 5});
  std::vector<Dense> layers{Dense(1), Dense(3)};
  model.track("layers", layers);
  CHECK(layers[0].b.value().to_vector<float>() == std::vector<float>{-2});
  // A variable with another type or shape is an error when it comes.
  CHECK(error_of([&] { model.track("pair", std::vector<Variable>{zero({2}, "pair")}); }) ==
        "tensor_name = model/pair/0/.ATTRIBUTES/VARIABLE_VALUE; expected dtype float does not equal original dtype int32");
  status.expect_partial();
}

TEST_CASE("slot variables") {
  Folder dir;
  for (const std::string& name : {std::string("momentum"), std::string("adam")}) {
    for (bool late : {false, true}) {
      CAPTURE(name);
      CAPTURE(late);
      Dense model(2);
      Variable unused = zero({}, "unused");
      Group optimizer;
      Checkpoint checkpoint({{"model", model}, {"optimizer", optimizer}, {"unused", unused}});
      auto make = [&] {
        auto& state = *optimizer.tracking();
        if (name == "adam") {
          optimizer.track("beta1_power", zero({}, "beta1_power"));
          optimizer.track("beta2_power", zero({}, "beta2_power"));
        }
        for (const std::string& slot : name == "adam" ? std::vector<std::string>{"m", "v"} : std::vector<std::string>{"momentum"}) {
          const std::string suffix = slot == "momentum" ? "/Momentum" : slot == "m" ? "/Adam" : "/Adam_1";
          // The order in which they are made is not that of the file.
          REQUIRE(state.add_slot(slot, model.b.state(), zero({2}, "b" + suffix).state()).ok());
          REQUIRE(state.add_slot(slot, model.w.state(), zero({2, 2}, "w" + suffix).state()).ok());
        }
      };
      if (!late) make();
      auto status = checkpoint.read(kGolden + "slots/" + name);
      if (late) {
        CHECK(error_of([&] { status.assert_consumed(); }) != "no error");
        make();
      }
      status.assert_consumed();
      checkpoint.write(dir / name);
      check_saved(kGolden + "slots/" + name, dir / name);
    }
  }
}

TEST_CASE("a Keras model with its optimiser, of which only a part is known here") {
  struct Kernel : Module {
    Variable kernel, bias;
    Kernel(int64_t in, int64_t out) : kernel(zero({in, out}, "kernel")), bias(zero({out}, "bias")) {
      track("_kernel", kernel);
      track("bias", bias);
    }
  } first(2, 3), second(3, 1);
  Group model, functional, operations, optimizer;
  operations.track("1", first);
  operations.track("2", second);
  functional.track("_operations", operations);
  model.track("_functional", functional);
  std::vector<Variable> velocities{zero({2, 3}, "v0"), zero({3}, "v1"), zero({3, 1}, "v2"), zero({1}, "v3")};
  optimizer.track("_velocities", velocities);
  Checkpoint checkpoint({{"model", model}, {"optimizer", optimizer}});
  auto status = checkpoint.read(kGolden + "keras/ckpt");
  status.assert_existing_objects_matched().assert_nontrivial_match().expect_partial();
  CHECK(error_of([&] { status.assert_consumed(); }).find("Unresolved object in checkpoint (root).optimizer._iterations") != std::string::npos);
  const auto lines = lines_of(kGolden + "keras/ckpt");
  check_value(first.kernel.value(), line_of(lines, "optimizer/_trainable_variables/0/.ATTRIBUTES/VARIABLE_VALUE"));
  check_value(second.bias.value(), line_of(lines, "optimizer/_trainable_variables/3/.ATTRIBUTES/VARIABLE_VALUE"));
  check_value(velocities[1].value(), line_of(lines, "optimizer/_variables/5/.ATTRIBUTES/VARIABLE_VALUE"));
}

TEST_CASE("a checkpoint without objects is matched by names") {
  Group model;
  Variable w = zero({2, 2}, "scope/w"), b = zero({3}, "b"), parts = zero({4, 2}, "parts");
  model.track("x", w);
  model.track("y", b);
  Checkpoint checkpoint(model);
  auto status = checkpoint.restore(latest_checkpoint(kGolden + "names"));
  status.assert_consumed();
  CHECK(w.value().to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(b.value().to_vector<float>() == std::vector<float>{5, 6, 7});
  model.track("late", parts);  // in two parts in the file
  CHECK(parts.value().to_vector<float>() == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  status.assert_consumed();
  model.track("other", zero({1}, "nowhere"));
  CHECK(error_of([&] { status.assert_existing_objects_matched(); }).find("'nowhere'") != std::string::npos);
}

TEST_CASE("the manager goes on where TensorFlow's ended") {
  Folder dir;
  fs::copy(kGolden + "manager", dir.path, fs::copy_options::recursive);
  auto state = get_checkpoint_state(dir.path);
  REQUIRE(state);
  CHECK(state->model_checkpoint_path == dir / "ckpt-4");
  CHECK(state->all_model_checkpoint_paths == std::vector<std::string>{dir / "ckpt-3", dir / "ckpt-4"});
  CHECK(state->all_model_checkpoint_timestamps.size() == 2);
  CHECK(state->last_preserved_timestamp > 1.7e9);
  Variable v = zero({}, "v");
  Checkpoint checkpoint({{"v", v}});
  CheckpointManager manager(checkpoint, dir.path, {.max_to_keep = 2});
  CHECK(manager.restore_or_initialize() == dir / "ckpt-4");
  CHECK(v.value().item<float>() == 4.f);
  CHECK(manager.save() == dir / "ckpt-5");
  CHECK(manager.checkpoints() == std::vector<std::string>{dir / "ckpt-4", dir / "ckpt-5"});
  CHECK(dir.files() ==
        std::vector<std::string>{"checkpoint", "ckpt-4.data-00000-of-00001", "ckpt-4.index", "ckpt-5.data-00000-of-00001", "ckpt-5.index"});
}

TEST_CASE("the variables of a SavedModel") {
  struct Layer : Module {
    Variable w = zero({2, 2}, "w"), calls = zero({}, "calls", DType::int32);
    Layer() {
      track("w", w);
      track("calls", calls);
    }
  } layer;
  Group root;
  root.track("layer", layer);
  Checkpoint checkpoint(root);
  checkpoint.read("tests/models/model_api/calls").assert_existing_objects_matched().expect_partial();
  CHECK(layer.w.value().to_vector<float>() == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a SavedModel loaded as objects is saved and restored like any module") {
  Folder dir;
  LoadedModule model = load_module("tests/models/model_api/calls");
  std::vector<Variable> variables = model.variables();
  REQUIRE(variables.size() == 2);
  Checkpoint checkpoint({{"model", model}});
  checkpoint.save(dir / "ckpt");
  CHECK(load_variable(dir.path, "model/layer/w/.ATTRIBUTES/VARIABLE_VALUE").to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  for (const Variable& v : variables) v.assign(cast(full(v.shape(), 9.f), v.dtype()));
  checkpoint.restore(latest_checkpoint(dir.path)).assert_consumed();
  // Into objects of our own, by the same names.
  Variable w = zero({2, 2}, "w");
  Group root, layer;
  layer.track("w", w);
  root.track("layer", layer);
  Checkpoint({{"model", root}}).restore(latest_checkpoint(dir.path)).assert_existing_objects_matched().expect_partial();
  CHECK(w.value().to_vector<float>() == std::vector<float>{1, 2, 3, 4});
}
