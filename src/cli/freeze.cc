#include <iostream>

#include "cli/commands.h"
#include "cli/text.h"
#include "weft/graph.h"

namespace weft::cli {
namespace {

std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const auto& s : list) out += (out.empty() ? "" : ", ") + s;
  return out.empty() ? "none" : out;
}

Graph frozen(const Model& model, const std::string& signature, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  FreezeOptions o;
  o.inputs = inputs;
  o.outputs = outputs;
  if (outputs.empty()) o.signature = choose_signature(model, signature);
  else if (inputs.empty() && !model.signatures().empty()) {
    // Of a plain graph: all its placeholders.
    for (const auto& i : model.signatures()[0].inputs) o.inputs.push_back(i.tensor);
  }
  return weft::freeze(model, o);
}

}  // namespace

int freeze(const FreezeArgs& args) {
  const Model model = load_model(args.load);
  const Graph g = frozen(model, args.signature, args.inputs, args.outputs);
  g.write(args.output);
  std::cout << args.output << ": " << g.nodes().size() << " nodes, " << g.functions().size() << " functions; inputs " << joined(g.inputs())
            << "; outputs " << joined(g.outputs()) << "\n";
  return 0;
}

int optimize(const OptimizeArgs& args) {
  if (args.list) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& p : passes()) rows.push_back({p.name, p.does});
    std::cout << table({"", ""}, rows);
    return 0;
  }
  if (args.input.empty() || args.output.empty()) throw Error(Code::kInvalidArgument, "give a model or graph and -o OUT; --list names the passes");
  LoadArgs load;
  load.path = args.input;
  load.init = args.init;
  Graph g;
  const bool model = !args.outputs.empty() || !args.init.empty() || !(args.input.ends_with(".pb") || args.input.ends_with(".pbtxt"));
  if (model) g = frozen(load_model(load), args.signature, args.inputs, args.outputs);
  else g = read_graph(args.input);
  std::vector<PassReport> reports;
  OptimizeOptions o;
  o.passes = args.passes;
  o.disabled = args.disable;
  const Graph out = weft::optimize(g, o, &reports);
  out.write(args.output);
  std::vector<std::vector<std::string>> rows;
  for (const auto& r : reports) {
    const int change = r.nodes_after - r.nodes_before;
    rows.push_back({r.pass, std::to_string(r.nodes_before), std::to_string(r.nodes_after), (change > 0 ? "+" : "") + std::to_string(change)});
  }
  std::cout << table({"pass", "before>", "after>", "change>"}, rows);
  std::cout << args.output << ": " << out.nodes().size() << " nodes (" << g.nodes().size() << " before); inputs " << joined(out.inputs())
            << "; outputs " << joined(out.outputs()) << "\n";
  return 0;
}

}  // namespace weft::cli
