#include "ops/lower_util.h"

namespace weft_engine::ops {

std::string size_text(ir::Builder& b, const Dim& d) {
  const int s = d.as_symbol();
  const auto& symbols = b.module().symbols;
  return s >= 0 && size_t(s) < symbols.size() && !symbols[size_t(s)].name.empty() ? symbols[size_t(s)].name : d.to_string();
}

std::string shape_text(ir::Builder& b, const Dims& dims) {
  std::string text = "[";
  for (const Dim& d : dims) text += (text.size() > 1 ? "," : "") + size_text(b, d);
  return text + "]";
}

void require_nonnegative(LowerContext& l, const Dim& d, const std::string& text) {
  if (d.nonnegative()) return;
  if (d.is_const()) {
    l.b.fail(Status(Code::kInvalidArgument, text));
    return;
  }
  l.b.check(l.b.compare(ir::Compare::kGe, l.b.sizes({d}, DType::kInt64, true), l.b.scalar_int(DType::kInt64, 0)), text);
}

Value as_scalar(ir::Builder& b, Value x) { return x ? b.reshape(x, {}) : nullptr; }

Value element_of(ir::Builder& b, Value vector, int64_t i) {
  if (!vector) return nullptr;
  if (vector->op == ir::Op::kConcat && vector->rank() == 1) {
    for (Value part : vector->operands) {
      if (!part->dim(0).is_const()) break;
      if (i < part->dim(0).value()) return element_of(b, part, i);
      i -= part->dim(0).value();
    }
  }
  const Value one = vector->rank() == 0 ? vector : as_scalar(b, b.slice_axis(vector, 0, Dim(i), 1));
  return b.convert(one, DType::kInt64);
}

Value as_index(ir::Builder& b, Value x) {
  return !x || x->type.dtype == DType::kInt32 || x->type.dtype == DType::kInt64 ? x : b.convert(x, DType::kInt32);
}

std::vector<int> axes_from(int first, int count) {
  std::vector<int> axes;
  for (int i = 0; i < count; ++i) axes.push_back(first + i);
  return axes;
}

Dims dims_of(Value x, int begin, int end) { return {x->type.dims.begin() + begin, x->type.dims.begin() + end}; }

Value size_value(ir::Builder& b, Dim n) { return b.sizes({std::move(n)}, DType::kInt64, true); }

Value all_of(ir::Builder& b, Value x) { return x ? b.reduce(ir::Reduce::kAnd, x, axes_from(0, x->rank())) : nullptr; }

Value inside(ir::Builder& b, Value x, const Dim& high) {
  if (!x) return nullptr;
  const DType t = x->type.dtype;
  const Value limit = b.convert(b.sizes({high}, t == DType::kInt32 ? t : DType::kInt64, true), t);
  return b.binary(ir::Binary::kAnd, b.compare(ir::Compare::kGe, x, b.scalar_int(t, 0)), b.compare(ir::Compare::kLt, x, limit));
}

namespace {

std::vector<Value> loop(ir::Builder& b, const Dim& most, std::vector<Value> init, const std::function<Value(const std::vector<Value>&)>* go,
                        const LoopBody& body) {
  for (Value v : init) {
    if (!v) return std::vector<Value>(init.size());
  }
  const size_t count = init.size();
  init.insert(init.begin(), b.scalar_int(DType::kInt64, 0));
  const Value limit = b.sizes({most}, DType::kInt64, true);
  if (!limit || !init[0]) return std::vector<Value>(count);
  const auto parameters = [&] {
    std::vector<Value> v;
    for (Value x : init) v.push_back(b.region_parameter(x->type));
    return v;
  };
  const auto rest = [](std::vector<Value> v) { return std::vector<Value>(v.begin() + 1, v.end()); };
  std::unique_ptr<ir::Region> condition, turn;
  {
    ir::OpenRegion region = b.begin_region();
    const std::vector<Value> v = parameters();
    Value more = b.compare(ir::Compare::kLt, v[0], limit);
    if (go) {
      const Value any = (*go)(rest(v));
      if (any) more = b.binary(ir::Binary::kAnd, more, b.reduce(ir::Reduce::kOr, any, axes_from(0, any->rank())));
    }
    condition = region.end({more});
  }
  {
    ir::OpenRegion region = b.begin_region();
    const std::vector<Value> v = parameters();
    std::vector<Value> next = body(v[0], rest(v));
    next.insert(next.begin(), b.add(v[0], b.scalar_int(DType::kInt64, 1)));
    turn = region.end(std::move(next));
  }
  if (!b.status().ok()) return std::vector<Value>(count);
  std::vector<Value> out = b.while_loop(std::move(init), std::move(condition), std::move(turn));
  if (out.empty()) return std::vector<Value>(count);
  if (!go) out[0]->operands[0]->starts = {most};
  return rest(std::move(out));
}

}  // namespace

std::vector<Value> counted_loop(ir::Builder& b, const Dim& n, std::vector<Value> init, const LoopBody& body) {
  return loop(b, n, std::move(init), nullptr, body);
}

std::vector<Value> loop_while_any(ir::Builder& b, int64_t most, std::vector<Value> init, const std::function<Value(const std::vector<Value>&)>& go,
                                  const LoopBody& body) {
  return loop(b, Dim(most), std::move(init), &go, body);
}

Value rows_of_tuples(ir::Builder& b, Value indices, std::span<const Dim> dims) {
  if (!indices) return nullptr;
  const int last = indices->rank() - 1;
  const Dims outer = dims_of(indices, 0, last);
  if (dims.empty()) return b.broadcast_to(b.scalar_int(DType::kInt64, 0), outer);
  indices = b.convert(indices, DType::kInt64);
  Value row = nullptr, good = nullptr;
  for (size_t k = 0; k < dims.size(); ++k) {
    const Value at = b.reshape(b.slice_axis(indices, last, Dim(int64_t(k)), 1), outer), fits = inside(b, at, dims[k]);
    row = row ? b.add(b.mul(row, b.sizes({dims[k]}, DType::kInt64, true)), at) : at;
    good = good ? b.binary(ir::Binary::kAnd, good, fits) : fits;
  }
  return dims.size() == 1 ? row : b.select(good, row, b.scalar_int(DType::kInt64, -1));
}

}  // namespace weft_engine::ops
