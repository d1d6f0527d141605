// Asks the shape rule of every recorded call what it says when less is known: some dimensions, some ranks, some
// values. Whatever it says must fit the result that TensorFlow recorded, and it must not fail: the call is right.
//
//   play shapes FILE...

#include "engine/engine.h"
#include "op/shape_context.h"
#include "tests/play/play.h"
#include "tests/support/cases.h"
#include "tests/support/report.h"

namespace weft_engine::testing {
namespace {

// Small and the same everywhere.
struct Random {
  uint64_t state;
  uint32_t next(uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(state >> 33) % n;
  }
};

std::optional<PartialShape> as_partial_value(const Tensor& t, Random& random) {
  if (t.rank() != 1 || t.num_elements() > 16 || (t.dtype() != DType::kInt32 && t.dtype() != DType::kInt64)) return std::nullopt;
  PartialShape s = PartialShape::scalar();
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const int64_t v = t.dtype() == DType::kInt32 ? t.data<int32_t>()[i] : t.data<int64_t>()[i];
    if (v < -1) return std::nullopt;
    s.add_dim(random.next(2) ? v : kUnknownDim);
  }
  return s;
}

// What the rule says of one relaxation; empty if that is right.
std::string ask(const op::OpSpec& spec, const op::NodeInfo& node, const OpCase& c, Random& random) {
  std::vector<PartialShape> shapes;
  std::vector<const Tensor*> constants;
  std::vector<std::optional<PartialShape>> partial;
  for (const Recorded& t : c.inputs) {
    PartialShape s(t->shape());
    const uint32_t how = random.next(4);
    if (how == 0) s = PartialShape::unknown();
    for (int d = 0; how > 1 && d < s.rank(); ++d) {
      if (random.next(2)) s.set_dim(d, kUnknownDim);
    }
    const bool known = random.next(2);
    constants.push_back(known ? &*t : nullptr);
    partial.push_back(!known && s.has_rank() ? as_partial_value(*t, random) : std::nullopt);
    shapes.push_back(known || partial.back() ? PartialShape(t->shape()) : std::move(s));
  }
  std::string asked;
  for (size_t i = 0; i < shapes.size(); ++i)
    asked += cat(i ? ", " : "", shapes[i].has_rank() ? shapes[i].to_string() : "?", constants[i] ? cat("=", constants[i]->summary(4)) : "",
                 partial[i] ? cat("~", partial[i]->to_string()) : "");
  op::ShapeContext context(node, shapes, constants, {}, partial);
  if (Status s = spec.infer_shapes(context); !s.ok()) return cat("fails on (", asked, "): ", s.message());
  for (size_t i = 0; i < c.outputs.size() && i < context.outputs().size(); ++i) {
    if (c.outputs[i] && !context.outputs()[i].compatible_with(c.outputs[i]->shape()))
      return cat("says ", context.outputs()[i], " of output ", i, ", which is ", c.outputs[i]->shape(), ", on (", asked, ")");
  }
  return {};
}

}  // namespace

int play_shapes(const Words& words) {
  Arguments a;
  if (!a.usual().parse(words)) return 2;
  auto& registry = engine::Engine::get().registry();
  Report report(a.known, a.fails);
  uint64_t questions = 0;
  const bool read = each_case(a.files, a.only, [&](const OpCase& c, int number) {
    const op::OpSpec* spec = registry.find(c.op);
    std::vector<DType> types;
    bool whole = spec != nullptr;
    for (const Recorded& t : c.inputs) {
      whole &= t.has_value();
      types.push_back(t ? t->dtype() : DType::kInvalid);
    }
    if (!whole) return;
    auto node = op::NodeInfo::make(*spec, c.op, c.attrs, types);
    if (!node.ok()) return;
    Random random{questions + 1};
    for (int k = 0; k < 12; ++k, ++questions) report.add(c.op, cat("#", number), ask(*spec, *node, c, random));
  });
  return read ? report.finish("shapes") : 2;
}

}  // namespace weft_engine::testing
