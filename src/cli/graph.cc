#include "weft/graph.h"

#include <sys/stat.h>

#include <iostream>

#include "cli/commands.h"
#include "cli/picture.h"
#include "weft/data.h"

namespace weft::cli {
namespace {

bool is_graph_file(const std::string& path) {
  struct stat s;
  return stat(path.c_str(), &s) == 0 && !S_ISDIR(s.st_mode) && !path.ends_with("saved_model.pb");
}

size_t count(const Picture& p) {
  size_t n = p.boxes.size();
  for (const Box& b : p.boxes) {
    for (const Picture& i : b.inner) n += count(i);
  }
  return n;
}

}  // namespace

int graph(const GraphArgs& args) {
  if (args.svg.empty() && args.dot.empty()) throw Error(Code::kInvalidArgument, "where to? Add --svg OUT.svg or --dot OUT.dot");
  Graph g;
  PictureOptions o;
  std::string title = args.load.path;
  if (args.saved || !args.function.empty() || (is_graph_file(args.load.path) && !args.optimized)) {
    g = read_graph(args.load.path, args.load.tags);
  } else {
    const Model model = load_model(args.load);
    PlanOptions of;
    of.signature = choose_signature(model, args.signature);
    of.optimized = args.optimized;
    g = plan(model, of);
    const Signature signature = model[of.signature];
    for (size_t i = 0; i < g.inputs().size(); ++i) o.labels[g.inputs()[i]] = signature.info().inputs[i].name;
    for (size_t i = 0; i < g.outputs().size(); ++i) o.labels[g.outputs()[i]] = signature.info().outputs[i].name;
    title += ", " + of.signature + (args.optimized ? ", optimised and placed" : "");
  }
  const FindFunction find = [&](const std::string& name) { return g.function(name); };
  std::vector<NodeInfo> nodes;
  if (args.function.empty()) {
    nodes = g.nodes();
  } else {
    nodes = g.function(args.function).nodes;
    title += ", function " + args.function;
  }
  o.limit = args.limit;
  o.depth = args.depth;
  Picture p = make_picture(title, nodes, find, o);
  if (!args.svg.empty()) {
    lay_out(p);
    data::write_file(args.svg, to_svg(p));
  }
  if (!args.dot.empty()) data::write_file(args.dot, to_dot(p));
  std::cout << (args.svg.empty() ? args.dot : args.svg) << ": " << nodes.size() << " nodes in " << count(p) << " boxes\n";
  return 0;
}

}  // namespace weft::cli
