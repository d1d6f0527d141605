// Plays recorded gradients: for each case a graph of placeholders and the op, gradients added by autodiff, a session that runs
// them, and TensorFlow's numbers beside.
//
//   play_grads [--known FILE] [--fails] [--op NAME] grads.bin ...
//
// An op that does not agree wholly must stand in the known file (op, cases that agree, reason), and must not get worse.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "autodiff/gradients.h"
#include "engine/engine.h"
#include "runtime/session.h"
#include "tests/support/cases.h"

using namespace weft;           // NOLINT
using namespace weft::testing;  // NOLINT
using graph::Endpoint;
using graph::Node;

namespace {

struct Tally {
  int agree = 0, total = 0;
  std::string first;
};

double largest(const std::vector<Recorded>& tensors) {
  double size = 0;
  for (const auto& t : tensors) {
    if (!t) continue;
    for (int64_t i = 0; i < t->num_elements(); ++i) {
      if (t->dtype() == DType::kFloat) size = std::max(size, double(std::abs(t->data<float>()[i])));
      if (t->dtype() == DType::kDouble) size = std::max(size, std::abs(t->data<double>()[i]));
    }
  }
  return std::isfinite(size) ? size : 0;
}

Result<std::vector<Tensor>> run(const OpCase& c) {
  auto& registry = engine::Engine::get().registry();
  graph::Graph g(registry);
  g.versions.producer = 2000;
  graph::ShapeInference shapes(g);
  std::vector<Endpoint> feeds, inputs, ys, dys, xs;
  std::vector<Tensor> values;
  auto placeholder = [&](std::string name, const Tensor& t) -> Result<Endpoint> {
    op::AttrMap attrs;
    attrs["dtype"] = t.dtype();
    attrs["shape"] = PartialShape(t.shape());
    WEFT_ASSIGN(Node * n, g.add(std::move(name), "Placeholder", std::move(attrs), {}));
    WEFT_RETURN_IF_ERROR(shapes.node(n));
    feeds.push_back({n, 0});
    values.push_back(t);
    return Endpoint{n, 0};
  };
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    WEFT_ASSIGN(Endpoint e, placeholder(cat("x", i), *c.inputs[i]));
    inputs.push_back(e);
  }
  WEFT_ASSIGN(Node * node, g.add("case", c.op, c.attrs, inputs));
  WEFT_RETURN_IF_ERROR(shapes.node(node));
  for (size_t i = 0; i < c.output_grads.size(); ++i) {
    if (!c.output_grads[i]) continue;
    WEFT_ASSIGN(Endpoint e, placeholder(cat("dy", i), *c.output_grads[i]));
    dys.push_back(e);
    ys.push_back({node, int(i)});
  }
  for (size_t i = 0; i < c.input_grads.size(); ++i) {
    if (c.input_grads[i]) xs.push_back(inputs[i]);
  }
  WEFT_ASSIGN(std::vector<Endpoint> grads, autodiff::add_gradients(g, shapes, ys, xs, dys));
  std::mutex mutex;
  runtime::SessionOptions options;
  options.intra_threads = options.inter_threads = 1;
  runtime::Session session(g, mutex, options);
  std::vector<Tensor> results(grads.size());
  WEFT_RETURN_IF_ERROR(session.run(feeds, values, grads, results, {}, {}));
  return results;
}

std::string compare(const std::vector<Tensor>& got, const OpCase& c) {
  const double scale = largest(c.output_grads);
  size_t at = 0;
  for (size_t i = 0; i < c.input_grads.size(); ++i) {
    if (!c.input_grads[i]) continue;
    if (std::string d = difference(got[at++], *c.input_grads[i], scale); !d.empty()) return cat("of input ", i, ": ", d);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  std::string known_path, only;
  bool show_fails = false;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--known" && i + 1 < argc) known_path = argv[++i];
    else if (arg == "--op" && i + 1 < argc) only = argv[++i];
    else if (arg == "--fails") show_fails = true;
    else paths.push_back(arg);
  }
  std::map<std::string, Tally> tallies;
  for (const auto& path : paths) {
    auto records = read_records(path);
    if (!records.ok()) {
      std::printf("%s\n", records.status().to_string().c_str());
      return 2;
    }
    for (const auto& record : *records) {
      auto c = parse_case(record);
      if (!c.ok()) {
        std::printf("%s: %s\n", path.c_str(), c.status().to_string().c_str());
        return 2;
      }
      if (!only.empty() && c->op != only) continue;
      Tally& tally = tallies[c->op];
      ++tally.total;
      auto result = run(*c);
      std::string why = result.ok() ? compare(*result, *c) : result.status().to_string();
      if (why.empty()) {
        ++tally.agree;
        continue;
      }
      if (tally.first.empty()) tally.first = why;
      if (show_fails) std::printf("%s %d: %s\n", c->op.c_str(), tally.total, why.substr(0, 300).c_str());
    }
  }
  const auto known = read_known_counts(known_path);
  int agree = 0, total = 0, whole = 0, worse = 0;
  for (const auto& [op, t] : tallies) {
    agree += t.agree;
    total += t.total;
    whole += t.agree == t.total;
    auto k = known.find(op);
    const int expected = k == known.end() ? t.total : k->second;
    if (t.agree > expected) std::printf("%s: %d agree, the known file says %d: bring it up to date\n", op.c_str(), t.agree, expected);
    if (t.agree >= expected) continue;
    ++worse;
    std::printf("%s: %d of %d agree; %s\n", op.c_str(), t.agree, t.total, t.first.substr(0, 200).c_str());
  }
  std::printf("gradients: %d of %d agree, ops: %d of %zu wholly\n", agree, total, whole, tallies.size());
  return worse > 0 || total == 0;
}
