#include <iostream>

#include "cli/commands.h"
#include "cli/text.h"
#include "cli/value.h"
#include "weft/data.h"

namespace weft::cli {
namespace {

void deliver(const RunArgs& args, const Outputs& results) {
  if (!args.save.empty()) data::write_npz(args.save, data::Arrays(results.begin(), results.end()));
  for (const auto& a : args.outputs) {
    const auto [name, file] = split_assignment(a, "--output");
    const Tensor& t = results[name];
    if (file.ends_with(".npz")) data::write_npz(file, {{name, t}});
    else data::write_npy(file, t);
  }
  if (!args.save.empty() || !args.outputs.empty()) return;
  for (const auto& [name, t] : results) {
    std::cout << (name.empty() ? "result" : name) << ": " << to_string(t.dtype()) << " " << to_string(PartialShape(t.shape())) << "\n" << t << "\n";
  }
}

// The tensors of a function, in the order of the form that they name.
Outputs call_function(const Model& model, const RunArgs& args) {
  Function f = model.function(args.function);
  std::string tried;
  for (const auto& form : f.info().forms) {
    SignatureInfo as_signature{args.function, {}, form.inputs, {}};
    bool names_fit = form.inputs.size() == args.inputs.size();
    for (const auto& a : args.inputs) {
      const std::string name = split_assignment(a, "--input").first;
      bool there = false;
      for (const auto& s : form.inputs) there |= s.name == name;
      names_fit &= there;
    }
    if (!names_fit) continue;
    try {
      const NamedTensors given = make_inputs(as_signature, args.inputs, args.cast, false, 1);
      std::vector<Tensor> ordered;
      for (const auto& s : form.inputs) {
        for (const auto& [name, t] : given) {
          if (name == s.name) ordered.push_back(t);
        }
      }
      return f.call(ordered);
    } catch (const Error& e) {
      tried += std::string("\n  ") + e.what();
    }
  }
  throw Error(Code::kInvalidArgument,
              "no form of function '" + args.function + "' takes these inputs; it was saved with:\n" + to_string(f.info()) + tried);
}

Outputs run_tensors(const Model& model, const RunArgs& args) {
  NamedTensors feeds;
  for (const auto& a : args.inputs) {
    const auto [name, value] = split_assignment(a, "--input");
    TensorSpec spec;
    spec.name = name;
    for (const auto& s : model.signatures()) {
      for (const auto& i : s.inputs) {
        if (i.tensor == name || i.tensor == name + ":0" || i.name == name) spec = i;
      }
    }
    feeds.emplace_back(spec.tensor.empty() ? name : spec.tensor, parse_value(spec, value, args.cast));
  }
  return model.run(feeds, args.fetches, args.targets);
}

}  // namespace

int run(const RunArgs& args) {
  const Model model = load_model(args.load);
  if (!args.fetches.empty() || !args.targets.empty()) {
    deliver(args, run_tensors(model, args));
  } else if (!args.function.empty()) {
    deliver(args, call_function(model, args));
  } else {
    const Signature signature = model[choose_signature(model, args.signature)];
    deliver(args, signature(make_inputs(signature.info(), args.inputs, args.cast, false, 1)));
  }
  return 0;
}

}  // namespace weft::cli
