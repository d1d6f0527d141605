// A model to modules and plans: variables found, frozen or kept; every function lowered.
#include <algorithm>
#include <set>

#include "aot/aot.h"
#include "core/cat.h"
#include "graph/node_traits.h"

namespace weft_engine::aot {
namespace {

using core::cat;
using core::failed_precondition;
using core::invalid_argument;
using core::not_found;
using core::PartialShape;

constexpr int64_t kAlign = 64;

// A function as the model's tensors.
struct Bound {
  FunctionSpec spec;
  std::vector<saved_model::BoundSignature::Port> inputs, outputs;
  std::vector<graph::Node*> targets;
};

class Builder {
 public:
  Builder(saved_model::Model& model, const Options& options) : model_(model), options_(options) {}

  Result<Net> run() {
    Options options = options_;
    if (!options_.config.empty()) {
      WEFT_ASSIGN(config_, read_config(options_.config));
      options.functions = {config_->function};
    }
    WEFT_ASSIGN(const std::vector<FunctionSpec> specs, discover(model_, options));
    for (const FunctionSpec& s : specs) {
      WEFT_ASSIGN(Bound b, bind(s));
      bound_.push_back(std::move(b));
    }
    WEFT_RETURN_IF_ERROR(initialise(model_));
    WEFT_RETURN_IF_ERROR(list_variables());
    // Once to see which variables are written, then with the others' values inside.
    std::set<int> written;
    for (const Bound& b : bound_) {
      WEFT_ASSIGN(const NetFunction f, function(b));
      for (const ir::Result& r : f.module->results) {
        if (r.state >= 0) written.insert(number_of(f.module->parameters[size_t(r.state)].name));
      }
    }
    for (size_t i = 0; i < variables_.size(); ++i) {
      const std::string& name = variables_[i].name;
      const bool keep = std::count(options_.kept.begin(), options_.kept.end(), name);
      if (written.count(int(i)) || keep || source_[i] < 0) continue;
      auto value = model_.value(model_.variables()[size_t(source_[i])]);
      if (!value.ok()) return without_value(name, value.status());
      variables_[i].constant = std::move(value).value();
    }
    Net net;
    net.source = model_.path();
    WEFT_RETURN_IF_ERROR(name_class(net));
    for (const Bound& b : bound_) {
      WEFT_ASSIGN(NetFunction f, function(b));
      net.functions.push_back(std::move(f));
    }
    WEFT_RETURN_IF_ERROR(states(net));
    std::vector<std::string> taken;
    for (NetFunction& f : net.functions) {
      f.identifier = identifier(f.name, taken);
      f.symbol = prefix_ + f.identifier;
      WEFT_ASSIGN(f.plan, compiler::make_plan(*f.module, options_.threads));
    }
    net.initial_symbol = prefix_ + "initial";
    return net;
  }

 private:
  static Status without_value(const std::string& name, const Status& why) {
    return failed_precondition("variable '", name, "' has no value to put into the code (", why.message(),
                               "); run the node that initialises it: --init NODE");
  }

  Result<Bound> bind(const FunctionSpec& s) {
    Bound b{s, {}, {}, {}};
    if (!s.signature.empty()) {
      WEFT_ASSIGN(const saved_model::BoundSignature* sig, model_.signature(s.signature));
      b.inputs = sig->inputs;
      b.outputs = sig->outputs;
    }
    auto port = [&](const std::string& tensor) -> Result<saved_model::BoundSignature::Port> {
      graph::InputName parsed;
      if (!graph::parse_input_name(tensor, parsed) || parsed.control) return invalid_argument("'", tensor, "' is not a tensor name");
      graph::Node* n = model_.graph().find(parsed.node);
      if (!n) return not_found("there is no node '", parsed.node, "' in ", model_.path());
      if (parsed.index >= n->num_outputs()) return invalid_argument("node '", parsed.node, "' has no output ", parsed.index);
      saved_model::BoundSignature::Port p;
      p.tensor = {n, parsed.index};
      p.tensor_name = cat(parsed.node, ":", parsed.index);
      p.name = parsed.index == 0 ? std::string(parsed.node) : p.tensor_name;
      p.dtype = core::base_type(n->output_type(parsed.index));
      if (size_t(parsed.index) < n->shapes.size()) p.shape = n->shapes[size_t(parsed.index)];
      if (role_of(*n) == op::Role::kPlaceholder) {
        if (const PartialShape& given = n->attr<PartialShape>("shape"); given.has_rank() && !p.shape.has_rank()) p.shape = given;
      }
      if (config_) {
        if (auto it = config_->names.find(p.tensor_name); it != config_->names.end() && !it->second.empty()) p.name = it->second;
        if (auto it = config_->shapes.find(p.tensor_name); it != config_->shapes.end()) p.shape = it->second;
      }
      return p;
    };
    for (const std::string& t : s.feeds) {
      WEFT_ASSIGN(auto p, port(t));
      b.inputs.push_back(std::move(p));
    }
    for (const std::string& t : s.fetches) {
      WEFT_ASSIGN(auto p, port(t));
      b.outputs.push_back(std::move(p));
    }
    for (const std::string& t : s.targets) {
      graph::Node* n = model_.graph().find(t);
      if (!n) return not_found("there is no node '", t, "' in ", model_.path());
      b.targets.push_back(n);
    }
    for (auto& p : b.inputs) {
      if (auto it = options_.shapes.find(p.name); it != options_.shapes.end()) {
        if (!p.shape.compatible_with(it->second))
          return invalid_argument("the shape ", it->second, " given for '", p.name, "' does not fit the model's ", p.shape);
        p.shape = it->second;
      }
      if (!p.shape.has_rank()) return invalid_argument("input '", p.name, "' has a shape of unknown rank; give it: --shape ", p.name, "=?,28,28");
    }
    return b;
  }

  Status list_variables() {
    const auto& all = model_.variables();
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i].handle.node) continue;
      compiler::VariableInfo v;
      v.name = all[i].name.empty() ? all[i].handle.node->name() : all[i].name;
      v.dtype = all[i].dtype;
      v.shape = all[i].shape;
      const auto twice = std::find_if(source_.begin(), source_.end(), [&](int k) { return all[size_t(k)].handle.node == all[i].handle.node; });
      if (twice != source_.end()) continue;
      // Two variables of one name stay two.
      while (number_of(v.name) >= 0) v.name += "'";
      if (!v.shape.fully_known()) {
        if (auto value = model_.value(all[i]); value.ok()) v.shape = PartialShape(value->shape());
      }
      variables_.push_back(std::move(v));
      source_.push_back(int(i));
    }
    return {};
  }

  int number_of(std::string_view name) const {
    for (size_t i = 0; i < variables_.size(); ++i) {
      if (variables_[i].name == name) return int(i);
    }
    return -1;
  }

  Result<NetFunction> function(const Bound& b) {
    NetFunction f;
    f.name = b.spec.name;
    for (const auto& p : b.inputs) f.feeds.push_back(p.tensor);
    for (const auto& p : b.outputs) f.fetches.push_back(p.tensor);
    f.targets = b.targets;
    compiler::LowerOptions lower;
    lower.threads = options_.threads;
    lower.gpu = options_.gpu;
    for (const auto& p : b.inputs) lower.args.push_back({p.name, p.shape, std::nullopt, -1});
    for (const auto& p : b.outputs) lower.result_names.push_back(p.name);
    lower.variables = variables_;
    lower.variable_of = [this](const op::NodeInfo& node) -> std::optional<int> {
      const auto& all = model_.variables();
      for (size_t i = 0; i < source_.size(); ++i) {
        if (source_[i] < 0) continue;
        const graph::Node* handle = all[size_t(source_[i])].handle.node;
        if (handle->name() == node.name()) return int(i);
        // Inlined under another name: the same shared name is the same variable.
        const auto* a = node.find_attr("shared_name");
        const auto* c = handle->find_attr("shared_name");
        const auto* x = a ? a->get<std::string>() : nullptr;
        const auto* y = c ? c->get<std::string>() : nullptr;
        if (x && y && !x->empty() && *x == *y) return int(i);
      }
      return std::nullopt;
    };
    WEFT_ASSIGN(graph::FunctionBody body, model_.session().body(f.feeds, f.fetches, f.targets));
    std::vector<PartialShape> shapes;
    for (const auto& p : b.inputs) shapes.push_back(p.shape);
    WEFT_RETURN_IF_ERROR(compiler::prepare(body, shapes, {}));
    WEFT_ASSIGN(f.module, compiler::lower(body, lower));
    f.module->name = f.name;
    const auto no_complex = [&](const std::string& name, core::DType t) {
      return core::is_complex_type(t)
                 ? core::unimplemented("'", name, "' of '", f.name, "' is ", core::dtype_name(t), ", which compiled classes have no type for")
                 : core::Status();
    };
    for (const ir::Parameter& p : f.module->parameters) WEFT_RETURN_IF_ERROR(no_complex(p.name, p.type.dtype));
    for (size_t i = 0; i < f.module->results.size(); ++i)
      WEFT_RETURN_IF_ERROR(no_complex(f.module->results[i].name, f.module->main->results[i]->type.dtype));
    std::vector<std::string> taken;
    for (const ir::Symbol& s : f.module->symbols) taken.push_back(s.name);
    for (size_t i = 0; i < f.module->parameters.size(); ++i) {
      const ir::Parameter& p = f.module->parameters[i];
      if (p.kind == ir::Parameter::Kind::kState) {
        int n = number_of(p.name);
        if (n < 0 && p.type.dtype == core::DType::kUint64) {  // the counter of a random op
          n = int(variables_.size());
          variables_.push_back({p.name, p.type.dtype, PartialShape({2}), std::nullopt});
          source_.push_back(-1);
        }
        if (n < 0) return core::internal_error("a state '", p.name, "' that is not a variable");
        f.parameters.push_back(~n);
        continue;
      }
      f.parameters.push_back(int(f.inputs.size()));
      f.inputs.push_back({p.name, identifier(p.name, taken), p.type});
    }
    for (size_t i = 0; i < f.module->results.size(); ++i) {
      const ir::Result& r = f.module->results[i];
      f.results.push_back(r.state >= 0 ? -1 : int(f.outputs.size()));
      if (r.state < 0) f.outputs.push_back({r.name, identifier(r.name, taken), f.module->main->results[i]->type});
    }
    return f;
  }

  Status name_class(Net& net) {
    std::string rest = options_.class_name;
    for (size_t at; (at = rest.find("::")) != std::string::npos; rest = rest.substr(at + 2)) {
      if (at > 0) net.namespaces.push_back(rest.substr(0, at));
    }
    net.class_name = rest;
    for (const std::string& n : net.namespaces) {
      if (!is_identifier(n)) return invalid_argument("'", options_.class_name, "' is not a class name: '", n, "' cannot be a namespace");
      prefix_ += n + "_";
    }
    if (!is_identifier(rest)) return invalid_argument("'", options_.class_name, "' is not a class name; give --class Net or --class ns::Net");
    prefix_ += rest + "_";
    return {};
  }

  // The variables that are left as state, numbered again, with places in one block of memory.
  Status states(Net& net) {
    std::vector<int> number(variables_.size(), -1);
    std::vector<std::string> taken;
    for (NetFunction& f : net.functions) taken.push_back(f.name);
    for (NetFunction& f : net.functions) {
      for (int& p : f.parameters) {
        if (p >= 0) continue;
        const size_t v = size_t(~p);
        if (number[v] < 0) {
          number[v] = int(net.variables.size());
          const auto* source = source_[v] < 0 ? nullptr : &model_.variables()[size_t(source_[v])];
          auto value = source ? model_.value(*source) : core::Tensor::zeros(variables_[v].dtype, {2});
          if (!value.ok()) return without_value(variables_[v].name, value.status());
          NetVariable n;
          n.name = variables_[v].name;
          n.identifier = identifier(n.name, taken);
          if (source) n.checkpoint_key = source->checkpoint_key;
          n.type.dtype = value->dtype();
          for (int64_t d : value->shape().dims()) n.type.dims.emplace_back(d);
          n.initial = std::move(value).value();
          net.variables.push_back(std::move(n));
        }
        p = ~number[v];
      }
    }
    // Those that begin as zeros (an optimiser's slots) come last and take no room in the file.
    auto all_zero = [](const NetVariable& v) {
      const char* p = v.initial.data<char>();
      return std::all_of(p, p + v.initial.byte_size(), [](char c) { return c == 0; });
    };
    for (const bool zeros : {false, true}) {
      for (NetVariable& v : net.variables) {
        if (all_zero(v) != zeros) continue;
        v.offset = net.state_bytes;
        net.state_bytes += (int64_t(v.initial.byte_size()) + kAlign - 1) / kAlign * kAlign;
      }
      if (!zeros) net.initial.assign(size_t(net.state_bytes), '\0');
    }
    for (const NetVariable& v : net.variables) {
      if (size_t(v.offset) + v.initial.byte_size() <= net.initial.size())
        std::copy_n(v.initial.data<char>(), v.initial.byte_size(), net.initial.data() + v.offset);
    }
    for (const auto& v : variables_) {
      if (v.constant) net.frozen.push_back(v.name);
    }
    return {};
  }

  saved_model::Model& model_;
  const Options& options_;
  std::optional<Config> config_;
  std::vector<Bound> bound_;
  std::vector<compiler::VariableInfo> variables_;
  std::vector<int> source_;  // of the model's variables; -1: a state that the code alone has
  std::string prefix_;       // of symbols
};

}  // namespace

Result<Net> build(saved_model::Model& model, const Options& options) { return Builder(model, options).run(); }

Result<std::string> emit(const Net& net, const compiler::CodegenOptions& options) {
  WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
  std::vector<compiler::CodeUnit> code;
  for (const NetFunction& f : net.functions) code.push_back({&f.plan, f.symbol});
  std::vector<compiler::DataUnit> data;
  if (!net.initial.empty()) data.push_back({net.initial_symbol, net.initial.data(), net.initial.size()});
  return api->emit(code, data, options);
}

Result<std::string> emit_ptx(const Net& net) {
  WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
  std::string text;
  for (const NetFunction& f : net.functions) {
    WEFT_ASSIGN(const compiler::GpuCode code, api->gpu(f.plan, {}));
    text += code.ptx;
  }
  return text;
}

}  // namespace weft_engine::aot
