// Plays recorded op calls and compares with TensorFlow's answers; then asks each op's shape rule about
// the same call: what it says must hold of the result.
//
//   play cases [--rows] [--device NAME] FILE...
//
// With --rows the calls are played for two rows at once, by the ops' batching rules. With --device they are asked to run there; what ran there is counted.
#include <set>

#include "core/own_memory.h"
#include "eager/op.h"
#include "engine/engine.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/shape_context.h"
#include "tests/play/play.h"
#include "tests/support/cases.h"
#include "tests/support/grad_graph.h"
#include "tests/support/report.h"
#include "trace/apply.h"

namespace weft_engine::testing {
namespace {

// Ops that were removed from TensorFlow run in old graphs alone.
Result<std::vector<Tensor>> run_in_old_graph(const OpCase& c) {
  GradGraph g(engine::Engine::get().registry());
  WEFT_RETURN_IF_ERROR(g.build(c));
  std::vector<graph::Endpoint> fetches;
  for (size_t i = 0; i < c.outputs.size(); ++i) fetches.push_back({g.node, int(i)});
  return g.run(fetches);
}

// Where calls were asked to run, and those that did.
struct Where {
  std::string device;
  std::set<std::string> ops;
  int calls = 0;
};

Result<std::vector<Tensor>> run(eager::Context& context, const OpCase& c, Where& where) {
  if (const auto* spec = engine::Engine::get().registry().find(c.op); spec && spec->deprecated_since > 0) return run_in_old_graph(c);
  eager::Op op(context);
  WEFT_RETURN_IF_ERROR(op.reset(c.op, where.device));
  for (const auto& [k, v] : c.attrs) WEFT_RETURN_IF_ERROR(op.set_attr(k, v));
  for (const auto& t : c.inputs) op.add_input(eager::TensorHandle::make(*t, nullptr));
  std::vector<RefPtr<eager::TensorHandle>> handles;
  WEFT_RETURN_IF_ERROR(op.execute(handles));
  std::vector<Tensor> out;
  for (auto& h : handles) {
    WEFT_RETURN_IF_ERROR(h->wait());
    WEFT_ASSIGN(Tensor here, core::to_host(h->tensor()));
    out.push_back(std::move(here));
  }
  if (!handles.empty() && !where.device.empty() && handles[0]->device() && handles[0]->device()->name().ends_with(where.device)) {
    where.ops.insert(c.op);
    ++where.calls;
  }
  return out;
}

// What the shape rule says with everything known, and with nothing known, must not contradict the result.
std::string check_shapes(const OpCase& c, const std::vector<Tensor>& result) {
  const auto* spec = engine::Engine::get().registry().find(c.op);
  std::vector<DType> types;
  for (const auto& t : c.inputs) types.push_back(t->dtype());
  auto node = op::NodeInfo::make(*spec, "", c.attrs, types);
  if (!node.ok()) return node.status().to_string();
  for (const bool known : {true, false}) {
    std::vector<PartialShape> shapes;
    std::vector<const Tensor*> constants;
    for (const auto& t : c.inputs) {
      shapes.push_back(known ? PartialShape(t->shape()) : PartialShape::unknown());
      constants.push_back(known ? &*t : nullptr);
    }
    op::ShapeContext context(*node, shapes, constants);
    if (Status s = spec->infer_shapes(context); !s.ok()) return cat("the shape rule fails: ", s.message());
    for (size_t i = 0; i < result.size(); ++i) {
      if (!context.outputs()[i].compatible_with(result[i].shape()))
        return cat("the shape rule says ", context.outputs()[i], " of output ", i, ", which is ", result[i].shape());
    }
  }
  return {};
}

Result<std::vector<Tensor>> tensors(op::Emitter& e, const std::vector<op::Value>& values) {
  WEFT_RETURN_IF_ERROR(e.take_status());
  std::vector<Tensor> out;
  for (const op::Value& v : values) {
    if (!v.constant()) return internal_error("no value");
    out.push_back(*v.constant());
  }
  return out;
}

bool has_batching_rule(const OpCase& c) {
  const auto* spec = engine::Engine::get().registry().find(c.op);
  return spec && !spec->stateful && spec->deprecated_since == 0 && op::batch_rule(*spec);
}

// Two rows in the inputs of which `with_rows` is true. The first row is the recorded call; in the second the inputs with rows have their elements in
// reverse order, where the op takes that. Nothing is wrong where the rule refuses: then the op runs row by row.
std::string check_rows(eager::Context& context, const OpCase& c, const std::vector<bool>& with_rows) {
  trace::EagerEmitter e(context);
  op::BatchEmitter rows(e, context.registry(), 2);
  std::vector<op::Value> first, second;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    first.push_back(e.constant(*c.inputs[i]));
    second.push_back(first[i]);
    if (with_rows[i]) second[i] = op::reshape_like(e.one("ReverseV2", {op::reshape(first[i], op::ints(e, {-1})), op::ints(e, {0})}), first[i]);
  }
  if (Status s = e.take_status(); !s.ok()) second = first;  // no kernel reverses this type
  auto other = tensors(e, e.apply(c.op, second, c.attrs));
  if (!other.ok()) {
    second = first;
    other = tensors(e, e.apply(c.op, second, c.attrs));
    if (!other.ok()) return other.status().to_string();
  }
  std::vector<op::Value> in;
  for (size_t i = 0; i < first.size(); ++i)
    in.push_back(with_rows[i] ? rows.batched(e.one("Pack", {first[i], second[i]})) : op::Value(rows, RefPtr<op::ValueRep>::share(first[i].rep())));
  std::vector<op::Value> one, two;
  for (const op::Value& v : rows.apply(c.op, in, c.attrs)) {
    const auto by_row = e.apply("Unpack", {rows.unbatched(v)}, {{"num", int64_t(2)}});
    if (by_row.size() != 2) return e.take_status().to_string();
    one.push_back(by_row[0]);
    two.push_back(by_row[1]);
  }
  if (Status s = rows.take_status(); !s.ok()) return s.code() == Code::kUnimplemented ? "" : s.to_string();
  auto got_one = tensors(e, one), got_two = tensors(e, two);
  if (!got_one.ok()) return got_one.status().to_string();
  if (std::string d = difference(*got_one, c.outputs); !d.empty()) return d;
  return difference(*got_two, std::vector<Recorded>(other->begin(), other->end()));
}

// Rows in one input after another, and in all.
std::string check_rows(eager::Context& context, const OpCase& c) {
  const size_t n = c.inputs.size();
  for (size_t i = 0; i <= n; ++i) {
    std::vector<bool> with_rows(n, i == n);
    if (i < n) with_rows[i] = true;
    if (i == n && n == 1) break;
    if (std::string why = check_rows(context, c, with_rows); !why.empty())
      return cat(i < n ? cat("rows in input ", i) : "rows in all inputs", ": ", why);
  }
  return {};
}

}  // namespace

int play_cases(const Words& words) {
  bool rows = false;
  Arguments a;
  Where where;
  if (!a.usual().flag("--rows", &rows).value("--device", &where.device).parse(words)) return 2;
  eager::Context context(engine::Engine::get().registry(), {});
  Report report(a.known, a.fails);
  int seen = 0;
  const bool read = each_case(a.files, a.only, [&](const OpCase& c, int number) {
    if (!a.mine(seen++)) return;
    if (rows && !has_batching_rule(c)) return;
    if (rows) return report.add(c.op, cat("#", number), check_rows(context, c));
    auto result = run(context, c, where);
    std::string why = result.ok() ? difference(*result, c.outputs) : result.status().to_string();
    if (why.empty()) why = check_shapes(c, *result);
    report.add(c.op, cat("#", number), why);
  });
  if (!where.device.empty()) std::printf("%d calls of %d ops ran on %s\n", where.calls, int(where.ops.size()), where.device.c_str());
  return read ? report.finish("cases") : 2;
}

}  // namespace weft_engine::testing
