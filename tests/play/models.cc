// Models as a whole, compiled: each is lowered, planned and made into code, predicts, trains five steps and predicts again, and must agree
// with TensorFlow's numbers (NAME.npz beside NAME/ or NAME.pb, of tests/models/saved).
//
//   play models [--interpret] [--open] [--print] [--lower] [--serve] PATH...      PATH without .npz
//
// PATH.pb: a graph with a text beside it that says what to feed (graphs/frame_loops), held against the engine.
// An npz may instead hold in_KEY and out_KEY (out2_KEY, out3_KEY: run again): the program is played if the compiler takes it; a refusal
// (Unimplemented) is counted, a wrong number fails.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "compiler/codegen.h"
#include "compiler/lower.h"
#include "engine/engine.h"
#include "saved_model/loader.h"
#include "saved_model/model.h"
#include "tests/compiler/interpret.h"
#include "tests/play/npz.h"
#include "tests/play/play.h"

namespace weft_engine::testing {
namespace {

using core::DType;
using core::Result;
using core::Status;
using core::Tensor;

struct Options {
  bool interpret = false, open = false, print = false, serve_only = false, lower_only = false;
};

// Which variable a node stands for.
std::string name_of(const op::NodeInfo& n) {
  const auto* shared = n.find_attr("shared_name");
  const std::string* s = shared ? shared->get<std::string>() : nullptr;
  return s && !s->empty() ? *s : n.name();
}

testing::Array array(const Tensor& t) {
  testing::Array a;
  a.dtype = t.dtype();
  a.dims = t.shape().vec();
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    switch (t.dtype()) {
      case DType::kFloat: a.f.push_back(double(t.data<float>()[i])); break;
      case DType::kDouble: a.f.push_back(t.data<double>()[i]); break;
      case DType::kInt32: a.n.push_back(t.data<int32_t>()[i]); break;
      case DType::kInt64: a.n.push_back(t.data<int64_t>()[i]); break;
      default: a.n.push_back(t.data<int8_t>()[i]); break;
    }
  }
  return a;
}

Result<Tensor> tensor(const testing::Array& a) {
  WEFT_ASSIGN(Tensor t, Tensor::allocate(a.dtype, core::Shape(a.dims)));
  for (size_t i = 0; i < size_t(t.num_elements()); ++i) {
    switch (t.dtype()) {
      case DType::kFloat: t.data<float>()[i] = float(a.f[i]); break;
      case DType::kDouble: t.data<double>()[i] = a.f[i]; break;
      case DType::kInt32: t.data<int32_t>()[i] = int32_t(a.n[i]); break;
      case DType::kInt64: t.data<int64_t>()[i] = a.n[i]; break;
      default: t.data<int8_t>()[i] = int8_t(a.n[i]); break;
    }
  }
  return t;
}

// One function of a model as code, or as a module that is followed.
class Compiled {
 public:
  Status make(saved_model::Model& model, const std::vector<graph::Endpoint>& feeds, const std::vector<core::PartialShape>& shapes,
              const std::vector<graph::Endpoint>& fetches, const std::vector<graph::Node*>& targets, const Options& o) {
    WEFT_ASSIGN(graph::FunctionBody body, model.session().body(feeds, fetches, targets));
    WEFT_RETURN_IF_ERROR(compiler::prepare(body, shapes, {}));
    compiler::LowerOptions lower;
    for (const auto& s : shapes) {
      compiler::ArgInfo a;
      a.shape = s;
      lower.args.push_back(a);
    }
    for (const auto& v : model.variables()) {
      if (!v.handle.node) continue;
      WEFT_ASSIGN(Tensor value, model.value(v));
      names_.push_back(name_of(v.handle.node->info()));
      compiler::VariableInfo info;
      info.name = names_.back();
      info.dtype = value.dtype();
      info.shape = value.shape();
      lower.variables.push_back(info);
    }
    lower.variable_of = [this](const op::NodeInfo& n) -> std::optional<int> {
      const std::string name = name_of(n);
      for (size_t i = 0; i < names_.size(); ++i) {
        if (names_[i] == name) return int(i);
      }
      return std::nullopt;
    };
    WEFT_ASSIGN(module_, compiler::lower(body, lower));
    if (o.print) std::cout << ir::print(*module_);
    if (o.lower_only) return {};
    interpret_ = o.interpret;
    if (interpret_) return {};
    WEFT_ASSIGN(plan_, compiler::make_plan(*module_));
    WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
    WEFT_ASSIGN(code_, api->jit(plan_, {}));
    return {};
  }

  // States by name.
  Status run(const std::vector<Tensor>& inputs, std::map<std::string, Tensor>& states, std::vector<Tensor>& outputs) {
    std::vector<Tensor> parameters;
    size_t next = 0;
    for (const ir::Parameter& p : module_->parameters) {
      if (p.kind == ir::Parameter::Kind::kInput) {
        parameters.push_back(inputs[next++]);
        continue;
      }
      if (!states.contains(p.name)) return core::not_found("no value of ", p.name);
      parameters.push_back(states[p.name]);
    }
    outputs.clear();
    std::vector<int64_t> symbols;
    for (const ir::Symbol& s : module_->symbols) symbols.push_back(parameters[size_t(s.parameter)].dim(s.dim));
    for (const ir::Guard& g : module_->guards) {
      if (g.a.evaluate(symbols) != g.b.evaluate(symbols)) return core::invalid_argument(g.text);
    }
    if (interpret_) {
      std::vector<testing::Array> arrays;
      for (const Tensor& t : parameters) arrays.push_back(array(t));
      const testing::Interpreted got = testing::interpret(*module_, arrays, symbols);
      if (got.error) return core::invalid_argument(module_->messages[size_t(got.error - 1)]);
      for (size_t i = 0; i < got.results.size(); ++i) {
        const ir::Result& r = module_->results[i];
        WEFT_ASSIGN(Tensor t, tensor(got.results[i]));
        if (r.state < 0) outputs.push_back(std::move(t));
        else states[module_->parameters[size_t(r.state)].name] = std::move(t);
      }
      return {};
    }
    std::vector<void*> ins, outs;
    std::vector<const void*> constants;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (module_->parameters[i].kind == ir::Parameter::Kind::kState) {
        WEFT_ASSIGN(parameters[i], parameters[i].copy());
        states[module_->parameters[i].name] = parameters[i];
      }
      ins.push_back(parameters[i].raw());
    }
    for (size_t i = 0; i < module_->results.size(); ++i) {
      if (module_->results[i].state >= 0) {
        outs.push_back(nullptr);
        continue;
      }
      const ir::Type& t = module_->main->results[i]->type;
      std::vector<int64_t> dims;
      for (const ir::Dim& d : t.dims) dims.push_back(d.evaluate(symbols));
      WEFT_ASSIGN(Tensor out, Tensor::allocate(t.dtype, core::Shape(dims)));
      outs.push_back(out.raw());
      outputs.push_back(out);
    }
    for (const ir::Instr* c : plan_.constants) constants.push_back(c->literal.raw());
    const size_t bytes = size_t(plan_.arena_bytes.evaluate(symbols));
    std::vector<char> arena(bytes + 64);
    char* at = arena.data() + (64 - uintptr_t(arena.data()) % 64) % 64;
    const int32_t rc = code_->entry()(ins.data(), outs.data(), constants.data(), symbols.data(), at, nullptr);
    if (rc) return core::invalid_argument(module_->messages[size_t(rc - 1)]);
    return {};
  }

 private:
  std::vector<std::string> names_;
  std::unique_ptr<ir::Module> module_;
  compiler::Plan plan_;
  std::unique_ptr<compiler::JitCode> code_;
  bool interpret_ = false;
};

// Empty, or how far they are apart.
double element(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat: return double(t.data<float>()[i]);
    case DType::kDouble: return t.data<double>()[i];
    case DType::kInt32: return t.data<int32_t>()[i];
    case DType::kInt64: return double(t.data<int64_t>()[i]);
    case DType::kBool:
    case DType::kUint8: return t.data<uint8_t>()[i];
    default: return NAN;
  }
}

std::string differs(const Tensor& got, const Tensor& want, double tolerance) {
  if (got.dtype() != want.dtype() || got.shape() != want.shape())
    return core::cat(core::dtype_name(got.dtype()), got.shape(), " instead of ", core::dtype_name(want.dtype()), want.shape());
  double off = 0, most = 1e-6;
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const double g = element(got, i), w = element(want, i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    if (!(std::fabs(g - w) < INFINITY)) return "not a number";
    off = std::max(off, std::fabs(g - w));
    most = std::max(most, std::fabs(w));
  }
  return off / most <= tolerance ? "" : core::cat("off by ", off / most, " of the largest value");
}

// A program with inputs and outputs by name.
Status play_program(const std::string& path, std::map<std::string, Tensor>& want, const Options& o) {
  if (want.contains("error")) return core::unimplemented("programs that fail are not played");
  WEFT_ASSIGN(auto model, saved_model::Model::load(engine::Engine::get().registry(), path, {}));
  WEFT_ASSIGN(const auto* s, model->signature("serving_default"));
  std::vector<core::PartialShape> shapes;
  std::vector<Tensor> inputs;
  for (const auto& p : s->inputs) {
    const auto it = want.find("in_" + p.name);
    if (it == want.end()) return core::unimplemented("an input that no array is for: ", p.name);
    inputs.push_back(it->second);
    shapes.emplace_back(it->second.shape());
    if (o.open && shapes.back().rank() > 0 && p.shape.dim(0) < 0) shapes.back().set_dim(0, -1);
  }
  std::map<std::string, Tensor> states;
  for (const auto& v : model->variables()) {
    if (!v.handle.node) continue;
    WEFT_ASSIGN(states[name_of(v.handle.node->info())], model->value(v));
  }
  Compiled program;
  WEFT_RETURN_IF_ERROR(program.make(*model, s->feeds, shapes, s->fetches, {}, o));
  if (o.lower_only) return {};
  for (const std::string run : {"out_", "out2_", "out3_"}) {
    if (std::none_of(want.begin(), want.end(), [&](const auto& w) { return w.first.starts_with(run); })) continue;
    std::vector<Tensor> out;
    WEFT_RETURN_IF_ERROR(program.run(inputs, states, out));
    for (size_t i = 0; i < s->outputs.size(); ++i) {
      const auto it = want.find(run + s->outputs[i].name);
      if (it == want.end()) continue;
      const std::string off = differs(out.at(i), it->second, it->second.dtype() == DType::kDouble ? 1e-6 : 1e-3);
      if (!off.empty()) return core::internal_error(it->first, ": ", off);
    }
  }
  return {};
}

// A graph that needs nothing fed: the nodes out_0 ... must be as the constants expect_0 ..., and expect2_0 ... when they run again.
Status play_fetches(saved_model::Model& model, const Options& o) {
  graph::Graph& g = model.graph();
  if (g.find("error_code")) return core::unimplemented("graphs that fail are not played");
  std::vector<Tensor> none;
  const std::string init[] = {"init"};
  if (g.find("init")) WEFT_RETURN_IF_ERROR(model.run({}, {}, init, none));
  const auto named = [&](const std::string& prefix) {
    std::vector<graph::Endpoint> all;
    while (graph::Node* n = g.find(core::cat(prefix, "_", all.size()))) all.push_back({n, 0});
    return all;
  };
  std::map<std::string, Tensor> states;
  for (const auto& v : model.variables()) {
    if (!v.handle.node) continue;
    WEFT_ASSIGN(states[name_of(v.handle.node->info())], model.value(v));
  }
  Compiled code;
  WEFT_RETURN_IF_ERROR(code.make(model, {}, {}, named("out"), {}, o));
  if (o.lower_only) return {};
  for (const char* prefix : {"expect", "expect2"}) {
    std::vector<Tensor> out;
    WEFT_RETURN_IF_ERROR(code.run({}, states, out));
    const auto expected = named(prefix);
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::string off = differs(out.at(i), expected[i].node->attr<Tensor>("value"), 1e-5);
      if (!off.empty()) return core::internal_error(prefix, "_", i, ": ", off);
    }
  }
  return {};
}

// A graph of version 1 with what to feed (graphs/frame_loops): beside the engine.
Status play_graph(const std::string& path, const Options& o) {
  std::ifstream in(path.substr(0, path.size() - 3) + ".txt");
  std::string line, y;
  std::vector<std::pair<std::string, Tensor>> feeds;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string word, name;
    words >> word >> name;
    if (word == "y") y = name;
    if (word != "feed") continue;
    std::vector<int64_t> dims;
    while (words >> word && word != ":") dims.push_back(std::stoll(word));
    WEFT_ASSIGN(Tensor t, Tensor::allocate(DType::kFloat, core::Shape(dims)));
    for (int64_t i = 0; i < t.num_elements(); ++i) words >> t.data<float>()[i];
    feeds.emplace_back(name + ":0", std::move(t));
  }
  WEFT_ASSIGN(auto model, saved_model::Model::load(engine::Engine::get().registry(), path, {}));
  if (model->graph().find("out_0")) return play_fetches(*model, o);
  std::vector<graph::Endpoint> ends;
  std::vector<core::PartialShape> shapes;
  std::vector<Tensor> inputs, out, want;
  for (const auto& [name, value] : feeds) {
    WEFT_ASSIGN(auto e, saved_model::find_tensor(model->graph(), name));
    ends.push_back(e);
    shapes.emplace_back(value.shape());
    inputs.push_back(value);
  }
  WEFT_ASSIGN(auto fetch, saved_model::find_tensor(model->graph(), y));
  Compiled graph;
  WEFT_RETURN_IF_ERROR(graph.make(*model, ends, shapes, {fetch}, {}, o));
  if (o.lower_only) return {};
  std::map<std::string, Tensor> states;
  WEFT_RETURN_IF_ERROR(graph.run(inputs, states, out));
  const std::string fetches[] = {y + ":0"};
  WEFT_RETURN_IF_ERROR(model->run(feeds, fetches, {}, want));
  const std::string off = differs(out.at(0), want.at(0), 1e-5);
  return off.empty() ? Status() : core::internal_error(y, ": ", off);
}

Status play(const std::string& path, const Options& o) {
  if (path.ends_with(".pb")) return play_graph(path, o);
  WEFT_ASSIGN(auto want, testing::read_npz(path + ".npz"));
  const bool saved = std::filesystem::is_directory(path);
  if (!want.contains("predict")) return saved ? play_program(path, want, o) : core::unimplemented("not a SavedModel");
  WEFT_ASSIGN(auto model, saved_model::Model::load(engine::Engine::get().registry(), saved ? path : path + ".pb", {}));
  std::vector<Tensor> none;
  if (!saved) {
    const std::string init[] = {"init"};
    WEFT_RETURN_IF_ERROR(model->run({}, {}, init, none));
  }
  std::map<std::string, Tensor> states;
  for (const auto& v : model->variables()) {
    if (!v.handle.node) continue;
    WEFT_ASSIGN(states[name_of(v.handle.node->info())], model->value(v));
  }
  const Tensor &x = want["x"], &y = want["y"];
  const auto shape_of = [&](const Tensor& t) {
    core::PartialShape s(t.shape());
    if (o.open) s.set_dim(0, -1);
    return s;
  };
  Compiled serve, train;
  const auto tensor = [&](const char* name) { return saved_model::find_tensor(model->graph(), name); };
  if (saved) {
    WEFT_ASSIGN(const auto* s, model->signature("serving_default"));
    WEFT_RETURN_IF_ERROR(serve.make(*model, s->feeds, {shape_of(x)}, s->fetches, {}, o));
  } else {
    WEFT_ASSIGN(auto in, tensor("x:0"));
    WEFT_ASSIGN(auto out, tensor("predict:0"));
    WEFT_RETURN_IF_ERROR(serve.make(*model, {in}, {shape_of(x)}, {out}, {}, o));
  }
  const auto predict = [&](const char* name, double tolerance) -> Status {
    std::vector<Tensor> out;
    WEFT_RETURN_IF_ERROR(serve.run({x}, states, out));
    const std::string off = differs(out.at(0), want[name], tolerance);
    return off.empty() ? Status() : core::internal_error(name, ": ", off);
  };
  if (!o.lower_only) WEFT_RETURN_IF_ERROR(predict("predict", 1e-3));
  if (o.serve_only) return {};
  if (saved) {
    WEFT_ASSIGN(const auto* s, model->signature("train"));
    WEFT_RETURN_IF_ERROR(train.make(*model, s->feeds, {shape_of(x), shape_of(y)}, s->fetches, {}, o));
  } else {
    WEFT_ASSIGN(auto in, tensor("x:0"));
    WEFT_ASSIGN(auto labels, tensor("y:0"));
    WEFT_ASSIGN(auto loss, tensor("loss:0"));
    graph::Node* op = model->graph().find("train_op");
    if (!op) return core::not_found("no train_op");
    WEFT_RETURN_IF_ERROR(train.make(*model, {in, labels}, {shape_of(x), shape_of(y)}, {loss}, {op}, o));
  }
  if (o.lower_only) return {};
  for (int64_t step = 0; step < want["losses"].num_elements(); ++step) {
    std::vector<Tensor> out;
    WEFT_RETURN_IF_ERROR(train.run({x, y}, states, out));
    const double expected =
        want["losses"].dtype() == DType::kDouble ? want["losses"].data<double>()[step] : double(want["losses"].data<float>()[step]);
    const std::string off = differs(out.at(0), Tensor::scalar<float>(float(expected)), 1e-3);
    if (!off.empty()) return core::internal_error("loss ", step, ": ", off);
  }
  return predict("predict_after", 2e-2);
}

}  // namespace

int play_models(const Words& words) {
  Options o;
  Arguments a;
  a.flag("--interpret", &o.interpret).flag("--open", &o.open).flag("--print", &o.print).flag("--serve", &o.serve_only).flag("--lower", &o.lower_only);
  if (!a.parse(words)) return 2;
  int bad = 0, refused = 0, good = 0;
  for (const std::string& path : a.files) {
    const Status s = play(path, o);
    std::printf("%-28s %s\n", std::filesystem::path(path).filename().c_str(), s.ok() ? "agrees" : std::string(s.message()).c_str());
    std::fflush(stdout);
    // Networks must compile.
    const auto folder = std::filesystem::path(path).parent_path().filename();
    const bool program = s.code() == core::Code::kUnimplemented && (folder == "programs" || folder == "control_flow");
    if (s.ok()) ++good;
    else ++(program ? refused : bad);
  }
  std::printf("models: %d agree, %d differ, %d refused\n", good, bad, refused);
  return bad > 0 || good == 0;
}

}  // namespace weft_engine::testing
