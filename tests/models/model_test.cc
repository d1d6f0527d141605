// The C++ API of SavedModels and graphs. The model and its numbers are TensorFlow's (model_api/make.py).
#include <doctest/doctest.h>

#include "wire/text_format.h"

#include <weft/weft.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

namespace {

constexpr const char* kCalls = "tests/models/model_api/calls";
const weft::Tensor kX{{1.f, 1.f}, {2.f, 0.f}};

std::string error_of(const auto& f) {
  try {
    f();
  } catch (const weft::Error& e) {
    return e.what();
  }
  return "no error";
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a signature runs by names and says what it is") {
  auto model = weft::load(kCalls);
  auto y = model["serving_default"]({{"x", kX}})["y"];
  CHECK(y.to_vector<float>() == Floats{4.5f, 6.25f, 2.5f, 4.25f});
  CHECK(y.shape() == std::vector<int64_t>{2, 2});
  REQUIRE(model.signatures().size() == 1);
  CHECK(to_string(model.signatures()[0]) == "serving_default(x: float [?,2]) -> (y: float [?,2])");
  CHECK(model.signatures()[0].method_name == "tensorflow/serving/predict");
  CHECK(model.signatures()[0].inputs[0].tensor == "serving_default_x:0");
  CHECK(model.tensorflow_version() == "2.21.0");
}

TEST_CASE("a SavedModel in text form is the same model") {
  namespace fs = std::filesystem;
  const std::string folder = fs::temp_directory_path() / "weft_model_in_text";
  fs::remove_all(folder);
  fs::copy(kCalls, folder, fs::copy_options::recursive);
  std::ifstream in(folder + "/saved_model.pb", std::ios::binary);
  const auto text = weft_engine::wire::binary_to_text("tensorflow.SavedModel", std::string(std::istreambuf_iterator<char>(in), {}));
  REQUIRE(text.ok());
  fs::remove(folder + "/saved_model.pb");
  std::ofstream(folder + "/saved_model.pbtxt") << *text;
  CHECK(weft::load(folder)["serving_default"]({{"x", kX}})["y"].to_vector<float>() == Floats{4.5f, 6.25f, 2.5f, 4.25f});
  std::ofstream(folder + "/saved_model.pbtxt") << "meta_graphs {\n  no_such: 1\n}";
  CHECK(error_of([&] { weft::load(folder); }).find("2:10: Message type \"tensorflow.MetaGraphDef\" has no field named \"no_such\".") !=
        std::string::npos);
  fs::remove_all(folder);
}

TEST_CASE("mistakes in a call are told with what would be right") {
  auto model = weft::load(kCalls);
  auto serve = model["serving_default"];
  CHECK(error_of([&] { model["nothing"]; }) == "the model has no signature 'nothing'; it has: serving_default");
  CHECK(error_of([&] { serve({}); }) == "input 'x' of signature 'serving_default' was not given; it is float [?,2]");
  CHECK(error_of([&] { serve({{"x", kX}, {"z", kX}}); }) == "signature 'serving_default' has no input 'z'; its inputs are x: float [?,2]");
  CHECK(error_of([&] { serve({{"x", kX}, {"x", kX}}); }) == "input 'x' of signature 'serving_default' was given twice");
  CHECK(error_of([&] { serve({{"x", weft::Tensor{1, 2}}}); }) == "input 'x' of signature 'serving_default' must be float, got int32");
  CHECK(error_of([&] { serve({{"x", weft::Tensor{1.f, 2.f, 3.f}}}); }) ==
        "input 'x' of signature 'serving_default' must have the shape [?,2], got [3]");
  CHECK(error_of([&] { serve({{"x", kX}})["q"]; }) == "there is no output 'q'; there are: y");
  CHECK(error_of([&] { serve({{"x", weft::Tensor()}}); }) == "a tensor without a value was used");
  CHECK(error_of([&] { weft::Model().signatures(); }) == "a Model that nothing was loaded into was used");
}

TEST_CASE("functions of the object graph are called without their code") {
  auto model = weft::load(kCalls);
  std::vector<std::string> names;
  for (const auto& f : model.functions()) names.push_back(f.name);
  CHECK(names == std::vector<std::string>{"either", "layer.call", "lookup", "nested", "serve"});
  auto call = model.function("layer.call");
  CHECK(call.info().forms.size() == 4);
  CHECK(call(kX).only().to_vector<float>() == Floats{4, 6, 2, 4});
  CHECK(call.with("scale", 2.0)(kX)[0].to_vector<float>() == Floats{8, 12, 4, 8});
  CHECK(model.variable("calls").item<int32_t>() == 0);
  CHECK(call.with("training", true)(kX)[0].to_vector<float>() == Floats{40, 60, 20, 40});
  CHECK(model.variable("layer.calls").item<int32_t>() == 1);
  auto found = model.function("lookup")(weft::Tensor::of_strings({3}, {"two", "beta", "gamma"}));
  CHECK(found[0].to_vector<int64_t>() == std::vector<int64_t>{2, -1, -1});
  CHECK(found["1"].to_vector<int64_t>() == std::vector<int64_t>{3, 1, 2});
  auto nested = model.function("nested")(1.f, 2.f, 3.f, weft::Tensor{4.f});
  CHECK(nested["sum"].item<float>() == 3);
  CHECK(nested["parts.0"].item<float>() == 8);
  CHECK(nested["parts.1"].item<float>() == 3);
  CHECK(model.function("either")(3)[0].item<int32_t>() == 6);
  CHECK(model.function("either")(weft::Tensor{1.5f})[0].item<float>() == 3);
}

TEST_CASE("a function that does not fit is told with its forms") {
  auto model = weft::load(kCalls);
  CHECK(error_of([&] { model.function("cal"); }) == "the model has no function 'cal'; it has: either, layer.call, lookup, nested, serve");
  CHECK(error_of([&] { model.function("either")("text"); }) ==
        "function 'either' has no form for the arguments (string []); it was saved with:\n  either(x: int32 [])\n  either(x: float [1])");
  CHECK(error_of([&] { model.function("layer.call").with("training", 3)(kX); }).find("training=3") != std::string::npos);
}

TEST_CASE("variables have names, places and values") {
  auto model = weft::load(kCalls);
  REQUIRE(model.variables().size() == 2);
  const auto& w = model.variables()[0];
  CHECK(w.name == "w");
  CHECK(w.path == "layer.w");
  CHECK(w.checkpoint_key == "layer/w/.ATTRIBUTES/VARIABLE_VALUE");
  CHECK(w.dtype == weft::DType::float32);
  CHECK(to_string(w.shape) == "[2,2]");
  CHECK(w.trainable);
  CHECK(!model.variables()[1].trainable);
  CHECK(model.variable("w").to_vector<float>() == Floats{1, 2, 3, 4});
  CHECK(error_of([&] { model.variable("b"); }) == "the model has no variable 'b'; it has: w, calls");
}

TEST_CASE("a model of version 1 says which variables are trainable") {
  const auto dir = std::filesystem::temp_directory_path() / ("weft_model_v1_" + std::to_string(std::random_device()()));
  std::filesystem::copy("tests/python/data/model_v1", dir, std::filesystem::copy_options::recursive);
  for (const bool listed : {true, false}) {
    auto model = weft::load(dir.string());
    REQUIRE(model.variables().size() == 2);
    for (const auto& v : model.variables()) CHECK(v.trainable == listed);
    if (!listed) break;
    // The collection under another name: nothing is trainable.
    std::ifstream in(dir / "saved_model.pb", std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const size_t at = bytes.find("trainable_variables");
    REQUIRE(at != std::string::npos);
    bytes[at] = 'd';
    std::ofstream(dir / "saved_model.pb", std::ios::binary) << bytes;
  }
  std::filesystem::remove_all(dir);
}

TEST_CASE("copies are the same model, and many threads may run it") {
  auto model = weft::load(kCalls, {.intra_threads = 1, .inter_threads = 1});
  weft::Model same = model;
  same.function("layer.call").with("training", true)(kX);
  CHECK(model.variable("calls").item<int32_t>() == 1);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      auto words = weft::Tensor::of_strings({1}, {"one"});
      for (int i = 0; i < 50; ++i) {
        good += model["serving_default"]({{"x", kX}})["y"].to_vector<float>()[0] == 4.5f;
        good += model.function("lookup")(words)[0].item<int64_t>() == 1;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(good == 800);
}

TEST_CASE("loading says what is wrong with the files") {
  CHECK(error_of([] { weft::load("no/such/model"); }).find("no/such/model does not exist") == 0);
  CHECK(error_of([] { weft::load(kCalls, {.tags = {"train"}}); }).find("Could not find meta graph def matching supplied tags: { train }") == 0);
  CHECK(error_of([] { weft::load("tests/golden"); }).find("Could not find SavedModel .pb or .pbtxt") == 0);
  weft::load(kCalls, {.verify_fingerprint = true});
  const std::string copy = std::filesystem::temp_directory_path() / ("weft_model_test_" + std::to_string(getpid()));
  std::filesystem::copy(kCalls, copy, std::filesystem::copy_options::recursive);
  {
    std::fstream f(copy + "/variables/variables.index", std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(60);
    f.put('x');
  }
  CHECK(error_of([&] { weft::load(copy, {.verify_fingerprint = true}); }).find("was made for another variables/variables.index") !=
        std::string::npos);
  CHECK(error_of([&] { weft::load(copy); }) != "no error");
  std::filesystem::remove_all(copy);
}

TEST_CASE("a bent saved_model.pb gives errors, and its fingerprint tells") {
  const std::string copy = std::filesystem::temp_directory_path() / ("weft_bent_model_" + std::to_string(getpid()));
  std::filesystem::copy(kCalls, copy, std::filesystem::copy_options::recursive);
  std::ifstream in(copy + "/saved_model.pb", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::mt19937 random(7);
  int told = 0;
  constexpr int kRounds = 300;
  for (int i = 0; i < kRounds; ++i) {
    std::string bent = whole;
    if (i % 10 == 0) bent.resize(random() % whole.size());
    else bent[random() % bent.size()] ^= char(1 << random() % 8);
    std::ofstream(copy + "/saved_model.pb", std::ios::binary) << bent;
    try {
      auto model = weft::load(copy, {.intra_threads = 1, .inter_threads = 1});
      weft::describe_saved_model(copy);
      for (const auto& s : model.signatures()) model[s.name]({{"x", kX}});
      for (const auto& f : model.functions()) model.function(f.name)(kX);
      weft::freeze(model);
    } catch (const weft::Error&) {
    }
    told += error_of([&] { weft::load(copy, {.verify_fingerprint = true}); }) != "no error";
  }
  CHECK(told == kRounds);
  std::filesystem::remove_all(copy);
}

TEST_CASE("a frozen model gives the same without its checkpoint") {
  auto model = weft::load(kCalls);
  auto frozen = weft::freeze(model);
  CHECK(frozen.inputs() == std::vector<std::string>{"x"});
  CHECK(frozen.outputs() == std::vector<std::string>{"y"});
  for (const auto& n : frozen.nodes()) CHECK(n.op != "VarHandleOp");
  for (const char* ending : {".pb", ".pbtxt"}) {
    const std::string file = std::filesystem::temp_directory_path() / ("weft_frozen_" + std::to_string(getpid()) + ending);
    frozen.write(file);
    auto again = weft::load(file);
    CHECK(to_string(again.signatures()[0]) == "serving_default(x: float [?,2]) -> (y: float <unknown>)");
    CHECK(again["serving_default"]({{"x", kX}})["y"].to_vector<float>() == Floats{4.5f, 6.25f, 2.5f, 4.25f});
    CHECK(again.run({{"x:0", kX}}, {"y:0"})[0].to_vector<float>() == Floats{4.5f, 6.25f, 2.5f, 4.25f});
    std::filesystem::remove(file);
  }
  CHECK(error_of([&] { weft::freeze(model, {.signature = "other"}); }).find("it has: serving_default") != std::string::npos);
}

TEST_CASE("files tell what they hold") {
  auto info = weft::describe_saved_model(kCalls);
  REQUIRE(info.graphs.size() == 1);
  CHECK(info.graphs[0].ops.at("MatMul") == 5);
  CHECK(info.graphs[0].assets == std::vector<std::string>{"words.txt"});
  CHECK(info.graphs[0].variables.size() == 2);
  REQUIRE(info.fingerprint);
  auto entries = weft::describe_checkpoint(std::string(kCalls) + "/variables/variables");
  REQUIRE(entries.size() == 3);
  CHECK(entries[2].key == "layer/w/.ATTRIBUTES/VARIABLE_VALUE");
  CHECK(entries[2].shape == std::vector<int64_t>{2, 2});
  CHECK(weft::read_checkpoint(std::string(kCalls) + "/variables/variables", entries[2].key).to_vector<float>() == Floats{1, 2, 3, 4});
}

TEST_CASE("a run can be traced, a graph looked at and optimised") {
  auto model = weft::load(kCalls);
  weft::TraceEvents trace;
  model["serving_default"]({{"x", kX}}, trace);
  bool matmul = false;
  for (const auto& e : trace.events) matmul |= e.op == "MatMul" || e.op == "_FusedMatMul";
  CHECK(matmul);
  CHECK(weft::to_chrome_trace(trace).find("\"traceEvents\":[") != std::string::npos);
  auto graph = weft::read_graph(kCalls);
  CHECK(!graph.functions().empty());
  auto body = graph.function(graph.functions()[0]);
  CHECK(!body.nodes.empty());
  auto plan = weft::plan(model, {.optimized = true});
  CHECK(!plan.nodes().empty());
  std::vector<weft::PassReport> reports;
  auto fast = weft::optimize(weft::freeze(model), {}, &reports);
  CHECK(reports.size() == weft::passes().size());
  const std::string file = std::filesystem::temp_directory_path() / ("weft_optimized_" + std::to_string(getpid()) + ".pb");
  fast.write(file);
  CHECK(weft::load(file)["serving_default"]({{"x", kX}})["y"].to_vector<float>() == Floats{4.5f, 6.25f, 2.5f, 4.25f});
  std::filesystem::remove(file);
  CHECK(error_of([&] { weft::optimize(graph, {.passes = {"magic"}}); }).find("there is no pass 'magic'") == 0);
}
