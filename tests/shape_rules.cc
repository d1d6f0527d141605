// Asks the shape rule of every recorded call what it says when less is known: some dimensions, some ranks, some
// values. Whatever it says must fit the result that TensorFlow recorded, and it must not fail: the call is right.
//   shape_rules FILE...
#include <cstdio>
#include <map>

#include "engine/engine.h"
#include "op/shape_context.h"
#include "tests/support/cases.h"

using namespace weft;           // NOLINT
using namespace weft::core;     // NOLINT
using namespace weft::testing;  // NOLINT

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

int main(int argc, char** argv) {
  auto& registry = engine::Engine::get().registry();
  int64_t questions = 0;
  std::map<std::string, std::string> wrong;  // the first of each op
  for (int f = 1; f < argc; ++f) {
    auto records = read_records(argv[f]);
    if (!records.ok()) {
      std::printf("%s: %s\n", argv[f], records.status().message().c_str());
      return 2;
    }
    for (const auto& record : *records) {
      auto c = parse_case(record);
      if (!c.ok()) continue;
      const op::OpSpec* spec = registry.find(c->op);
      std::vector<DType> types;
      bool whole = spec != nullptr;
      for (const Recorded& t : c->inputs) {
        whole &= t.has_value();
        types.push_back(t ? t->dtype() : DType::kInvalid);
      }
      if (!whole) continue;
      auto node = op::NodeInfo::make(*spec, c->op, c->attrs, types);
      if (!node.ok()) continue;
      Random random{uint64_t(questions) + 1};
      for (int k = 0; k < 12; ++k, ++questions) {
        std::string why = ask(*spec, *node, *c, random);
        if (!why.empty()) wrong.emplace(c->op, std::move(why));
      }
    }
  }
  for (const auto& [name, why] : wrong) std::printf("%s %s\n", name.c_str(), why.c_str());
  std::printf("%lld questions, %zu ops wrong\n", static_cast<long long>(questions), wrong.size());
  return !wrong.empty();
}
