// Gradients against differences: each recorded gradient case once more, with the op's own numbers instead of TensorFlow's.
//
//   play differences FILE...
//
// Along a random direction v of the inputs the derivative of L = sum of dy y must be sum of dx v (first order); and with random
// numbers w, the derivative of sum of w dx along a direction of inputs and dys must be what gradients of the gradients say
// (second order). In double precision where the op has such a kernel. A case whose point is a corner (ties, zeros) is
// tried again beside it. The known file tells where this cannot be, or only in part; its first lines say how.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "engine/engine.h"
#include "tests/play/play.h"
#include "tests/support/differences.h"
#include "tests/support/report.h"

namespace weft_engine::testing {
namespace {

using graph::Endpoint;

DType wider(DType t, bool twice) {
  if (!moves(t)) return t;
  if (is_complex_type(t)) return twice ? DType::kComplex128 : t;
  return twice ? DType::kDouble : t == DType::kDouble ? t : DType::kFloat;
}

// The case in a wider type: its tensors and type attributes.
Result<OpCase> widen(const OpCase& c, bool twice) {
  OpCase out = c;
  for (auto* list : {&out.inputs, &out.output_grads}) {
    for (auto& t : *list) {
      if (!t || !moves(t->dtype())) continue;
      WEFT_ASSIGN(t, tensor_of(numbers_of(*t), wider(t->dtype(), twice), t->shape()));
    }
  }
  for (auto& [name, value] : out.attrs) {
    if (const DType* t = value.get<DType>()) {
      value = wider(*t, twice);
    } else if (const auto* list = value.get<std::vector<DType>>()) {
      std::vector<DType> types = *list;
      for (DType& t : types) t = wider(t, twice);
      value = types;
    }
  }
  return out;
}

// What the known file says of an op.
struct Known {
  int first = 0, second = 0;  // cases that may differ
  std::set<int> outputs;      // only gradients of these flow in; all where it is empty
  std::set<int> fixed;        // inputs that stay
  std::set<int> fixed_second; // in the second order
  bool real = false;          // complex cases are left out
  DifferenceOptions options;
};

std::set<int> int_set(const std::string& text) {
  std::set<int> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) out.insert(std::atoi(part.c_str()));
  return out;
}

std::map<std::string, Known> read_known(const std::string& path) {
  std::map<std::string, Known> known;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string op, what;
    if (line.starts_with('#') || !(fields >> op >> what)) continue;
    Known& k = known[op];
    const size_t equals = what.find('=');
    const std::string key = what.substr(0, equals), value = equals == std::string::npos ? "" : what.substr(equals + 1);
    const int count = value == "all" ? kAnyNumber : std::atoi(value.c_str());
    if (key == "first" || key == "both") k.first = count;
    if (key == "second" || key == "both") k.second = count;
    if (key == "outputs") k.outputs = int_set(value);
    if (key == "fixed") k.fixed = int_set(value);
    if (key == "fixed_second") k.fixed_second = int_set(value);
    if (key == "float") k.options.single = true;
    if (key == "real") k.real = true;
    if (key == "hermitian") k.options.hermitian = true;
  }
  return known;
}

Verdict first_order(GradGraph& g, const std::vector<Endpoint>& grads, const Known& known) {
  std::vector<Numbers> weights;
  for (const Endpoint& dy : g.dys) weights.push_back(numbers_of(g.values[feed_of(g, dy)]));
  return check_differences(g, g.ys, std::move(weights), g.xs, grads, known.options);
}

// Gradients of w dx, by the inputs and by dy.
struct Second {
  std::vector<Endpoint> first, by, grads;
  std::vector<Numbers> weights;
};

Result<Second> add_second(GradGraph& g, const std::vector<Endpoint>& grads, const Known& known) {
  Second s;
  std::vector<Endpoint> there;
  for (const Endpoint& e : grads) {
    if (e.node && moves(e.node->output_type(e.index))) there.push_back(e);
  }
  WEFT_ASSIGN(std::vector<Tensor> values, g.run(there));
  std::vector<Endpoint> weights;
  for (size_t i = 0; i < there.size(); ++i) {
    s.first.push_back(there[i]);
    s.weights.push_back(random_like(values[i], false));
    WEFT_ASSIGN(Tensor w, tensor_of(s.weights.back(), values[i].dtype(), values[i].shape()));
    WEFT_ASSIGN(Endpoint e, g.placeholder(cat("w", i), w));
    weights.push_back(e);
  }
  if (s.first.empty()) return s;
  for (const Endpoint& x : g.xs) {
    if (!known.fixed_second.contains(int(feed_of(g, x)))) s.by.push_back(x);
  }
  s.by.insert(s.by.end(), g.dys.begin(), g.dys.end());
  autodiff::GradientOptions options;
  options.scope = "second";
  options.unreachable_is_error = false;
  WEFT_ASSIGN(s.grads, autodiff::add_gradients(g.graph, g.shapes, s.first, s.by, weights, options));
  return s;
}

// Away from corners.
Status jitter(GradGraph& g, const Known& known) {
  std::vector<Endpoint> all = g.xs;
  all.insert(all.end(), g.dys.begin(), g.dys.end());
  for (const Endpoint& e : all) {
    Tensor& t = g.values[feed_of(g, e)];
    if (!moves(t.dtype())) continue;
    Numbers n = numbers_of(t);
    const Numbers by = random_like(t, true);
    for (size_t i = 0; i < n.size(); ++i) n[i] += 0.2 * by[i];
    if (known.options.hermitian && feed_of(g, e) < g.inputs.size()) make_hermitian(n, t.shape());
    WEFT_ASSIGN(t, tensor_of(n, t.dtype(), t.shape()));
  }
  return {};
}

struct Verdicts {
  Verdict first, second;
};

Verdicts examine(const OpCase& recorded, const Known& known) {
  Verdicts report{{Outcome::kNotHere, "no kernel"}, {Outcome::kNotHere, "no kernel"}};
  for (bool twice : {true, false}) {
    auto c = widen(recorded, twice);
    if (!c.ok()) continue;
    for (size_t i = 0; i < c->output_grads.size(); ++i) {
      if (!known.outputs.empty() && !known.outputs.contains(int(i))) c->output_grads[i].reset();
    }
    for (size_t i = 0; i < c->input_grads.size(); ++i) {
      if (known.fixed.contains(int(i))) c->input_grads[i].reset();
    }
    GradGraph g(engine::Engine::get().registry());
    if (!g.build(*c).ok() || !g.run(g.ys).ok()) continue;
    auto grads = autodiff::add_gradients(g.graph, g.shapes, g.ys, g.xs, g.dys, {.unreachable_is_error = false});
    if (!grads.ok() && twice) continue;
    if (!grads.ok()) return {{Outcome::kNoGradient, grads.status().to_string()}, {Outcome::kNotHere, ""}};
    report.first = first_order(g, *grads, known);
    if (twice && report.first.outcome == Outcome::kNotHere) continue;  // the rule has no such kernel
    auto second = add_second(g, *grads, known);
    if (!second.ok()) report.second = {Outcome::kNoGradient, second.status().to_string()};
    else report.second = check_differences(g, second->first, second->weights, second->by, second->grads, known.options);
    for (int again = 0; again < 3 && (report.first.outcome == Outcome::kDiffers || report.second.outcome == Outcome::kDiffers); ++again) {
      if (!jitter(g, known).ok()) break;
      if (report.first.outcome == Outcome::kDiffers) {
        if (Verdict v = first_order(g, *grads, known); v.outcome == Outcome::kAgrees) report.first = v;
      }
      if (second.ok() && report.second.outcome == Outcome::kDiffers) {
        if (Verdict v = check_differences(g, second->first, second->weights, second->by, second->grads, known.options); v.outcome == Outcome::kAgrees)
          report.second = v;
      }
    }
    break;
  }
  return report;
}

void add(Report& report, const std::string& op, const std::string& where, const Verdict& v) {
  switch (v.outcome) {
    case Outcome::kAgrees: report.agrees(op); break;
    case Outcome::kNotHere: report.refused(op, where, v.why); break;
    default: report.differs(op, where, v.why); break;
  }
}

}  // namespace

int play_differences(const Words& words) {
  Arguments a;
  if (!a.usual().parse(words)) return 2;
  std::map<std::string, Known> known = read_known(a.known);
  Report first("", a.fails), second("", a.fails);
  for (const auto& [op, k] : known) {
    if (k.first) first.allow(op, k.first);
    if (k.second) second.allow(op, k.second);
  }
  const bool read = each_case(a.files, a.only, [&](const OpCase& c, int number) {
    const Known& k = known[c.op];
    if (k.real && std::ranges::any_of(c.inputs, [](const auto& t) { return t && is_complex_type(t->dtype()); })) return;
    seed_random(20);
    const Verdicts v = examine(c, k);
    add(first, c.op, cat("#", number), v.first);
    add(second, c.op, cat("#", number), v.second);
  });
  if (!read) return 2;
  const int bad = first.finish("first order", true);
  return second.finish("second order", true) || bad;
}

}  // namespace weft_engine::testing
