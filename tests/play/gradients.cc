// Plays recorded gradients: for each case a graph of placeholders and the op, gradients added by autodiff, a session that runs
// them, and TensorFlow's numbers beside.
//
//   play gradients [--unknown-shapes | --some-shapes | --wrong-shapes | --tape] FILE...
//
// With --tape the op runs eagerly, and so does its gradient.
// With --unknown-shapes the placeholders' shapes are not known when gradients are added, with --some-shapes a random part of them. With --wrong-shapes
// they lie, and no number is compared.
#include <algorithm>
#include <cmath>
#include <random>

#include "core/own_memory.h"
#include "engine/engine.h"
#include "tests/play/play.h"
#include "tests/support/grad_graph.h"
#include "tests/support/report.h"
#include "trace/apply.h"

namespace weft_engine::testing {
namespace {

using graph::Endpoint;

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

Result<std::vector<Tensor>> run(const OpCase& c, const GradGraph::Tell& tell) {
  GradGraph g(engine::Engine::get().registry());
  WEFT_RETURN_IF_ERROR(g.build(c, tell));
  WEFT_ASSIGN(std::vector<Endpoint> grads, autodiff::add_gradients(g.graph, g.shapes, g.ys, g.xs, g.dys));
  return g.run(grads);
}

// Each dimension is known half the time, and the rank mostly.
PartialShape some_of(const Shape& s) {
  static std::mt19937 bits(11);
  if (bits() % 8 == 0) return PartialShape::unknown();
  PartialShape out(s);
  for (int i = 0; i < s.rank(); ++i) {
    if (bits() % 2) out.set_dim(i, kUnknownDim);
  }
  return out;
}

// Another shape altogether. The result is an error, or a gradient that does not fit; never a crash.
PartialShape wrong(const Shape& s) {
  static std::mt19937 bits(12);
  switch (bits() % 4) {
    case 0: return some_of(s);
    case 1: return PartialShape(s);
    default: break;
  }
  PartialShape out = PartialShape::scalar();
  const int rank = int(bits() % 6);
  for (int i = 0; i < rank; ++i) {
    const int64_t dims[] = {kUnknownDim, 0, 1, 2, 3, i < s.rank() ? s.dim(i) : 7, int64_t(1) << 40};
    out.add_dim(dims[bits() % 7]);
  }
  return out;
}

// Adds gradients of the first and the second order; nothing runs.
void add_wrongly(const OpCase& c) {
  for (int again = 0; again < 4; ++again) {
    GradGraph g(engine::Engine::get().registry());
    if (!g.build(c, wrong).ok()) continue;
    auto grads = autodiff::add_gradients(g.graph, g.shapes, g.ys, g.xs, g.dys, {.unreachable_is_error = false});
    if (!grads.ok()) continue;
    std::vector<Endpoint> first;
    for (const Endpoint& e : *grads) {
      if (e.node && autodiff::differentiable(e.node->output_type(e.index))) first.push_back(e);
    }
    if (!first.empty()) (void)autodiff::add_gradients(g.graph, g.shapes, first, g.xs, {}, {.scope = "second", .unreachable_is_error = false});
  }
}

// Eagerly, with a tape that listens.
Result<std::vector<Tensor>> run_on_tape(const OpCase& c) {
  static eager::Context& context = *new eager::Context(engine::Engine::get().registry(), {});
  trace::EagerEmitter e(context);
  autodiff::Tape tape(false);
  std::vector<op::Value> x, sources, targets, seeds;
  for (const auto& t : c.inputs) {
    x.push_back(e.constant(*t));
    tape.watch(x.back());
  }
  autodiff::TapeStack::current().push(&tape);
  const std::vector<op::Value> y = e.apply(c.op, x, c.attrs);
  autodiff::TapeStack::current().pop(&tape);
  WEFT_RETURN_IF_ERROR(e.take_status());
  for (size_t i = 0; i < c.output_grads.size(); ++i) {
    if (!c.output_grads[i]) continue;
    targets.push_back(y[i]);
    seeds.push_back(e.constant(*c.output_grads[i]));
  }
  for (size_t i = 0; i < c.input_grads.size(); ++i) {
    if (c.input_grads[i]) sources.push_back(x[i]);
  }
  WEFT_ASSIGN(std::vector<op::Value> grads, tape.gradient(e, targets, sources, seeds));
  std::vector<Tensor> out;
  for (const op::Value& g : grads) {
    const op::Value dense = g.dense();
    WEFT_RETURN_IF_ERROR(e.take_status());
    const Tensor* t = dense.constant();
    if (!t) return internal_error("no gradient");
    out.push_back(*t);
  }
  return out;
}

std::string compare(const std::vector<Tensor>& got, const OpCase& c) {
  const double scale = largest(c.output_grads);
  size_t at = 0;
  for (size_t i = 0; i < c.input_grads.size(); ++i) {
    if (!c.input_grads[i]) continue;
    const auto here = core::to_host(got[at++]);
    if (!here.ok()) return here.status().to_string();
    if (std::string d = difference(*here, *c.input_grads[i], scale); !d.empty()) return cat("of input ", i, ": ", d);
  }
  return {};
}

}  // namespace

int play_gradients(const Words& words) {
  bool unknown = false, some = false, lie = false, tape = false;
  Arguments a;
  if (!a.usual().flag("--unknown-shapes", &unknown).flag("--some-shapes", &some).flag("--wrong-shapes", &lie).flag("--tape", &tape).parse(words))
    return 2;
  GradGraph::Tell tell;
  if (unknown) tell = [](const Shape&) { return PartialShape::unknown(); };
  if (some) tell = some_of;
  Report report(a.known, a.fails);
  int seen = 0;
  const bool read = each_case(a.files, a.only, [&](const OpCase& c, int number) {
    if (!a.mine(seen++)) return;
    if (lie) {
      add_wrongly(c);
      report.agrees(c.op);
      return;
    }
    auto result = tape ? run_on_tape(c) : run(c, tell);
    report.add(c.op, cat("#", number), result.ok() ? compare(*result, c) : result.status().to_string());
  });
  return read ? report.finish("gradients") : 2;
}

}  // namespace weft_engine::testing
