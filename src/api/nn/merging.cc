#include "weft/nn/merging.h"

#include <algorithm>

#include "api/nn/support.h"

namespace weft::nn {

using namespace detail;

void Merge::build_many(const std::vector<PartialShape>& inputs) {
  if (type() == "Subtract" && inputs.size() != 2)
    fail(Code::kInvalidArgument, "A `Subtract` layer should be called on exactly 2 inputs. Received: " + std::to_string(inputs.size()));
  int64_t batch = -1;
  for (const PartialShape& s : inputs) {
    if (!s.known_rank || s.dims.empty() || s.dims[0] < 0) continue;
    if (batch >= 0 && s.dims[0] != batch) {
      std::string shapes;
      for (const PartialShape& t : inputs) shapes += (shapes.empty() ? "" : ", ") + text(t);
      fail(Code::kInvalidArgument, "Cannot merge tensors with different batch sizes. Received tensors with shapes [" + shapes + "]");
    }
    batch = s.dims[0];
  }
}

Tensor Merge::call(const Tensor& x, const CallOptions& o) const { return call_many({x}, o)[0]; }

std::vector<Tensor> Merge::call_many(const std::vector<Tensor>& inputs, const CallOptions&) const {
  int rank = 0;
  for (const Tensor& t : inputs) rank = std::max(rank, rank_of(t, name()));
  Tensor y;
  for (Tensor t : inputs) {
    for (int r = rank_of(t, name()); r < rank; ++r) t = expand_dims(t, 1);
    if (!y.has_value()) {
      y = t;
      continue;
    }
    switch (kind_) {
      case Kind::add:
      case Kind::average: y = y + t; break;
      case Kind::subtract: y = y - t; break;
      case Kind::multiply: y = y * t; break;
      case Kind::maximum: y = maximum(y, t); break;
      case Kind::minimum: y = minimum(y, t); break;
    }
  }
  if (kind_ == Kind::average) y = y / number(double(inputs.size()), y);
  return {y};
}

Tensor Merge::compute_mask_many(const std::vector<Tensor>&, const std::vector<Tensor>& masks) const {
  Tensor any;
  for (const Tensor& m : masks) {
    if (!m.has_value()) return {};
    any = any.has_value() ? logical_or(any, m) : m;
  }
  return any;
}

#define WEFT_MERGE(Name, kind) \
  Name::Name(const std::string& name) : LayerOf(Kind::kind, #Name, name) {}
WEFT_MERGE(Add, add)
WEFT_MERGE(Subtract, subtract)
WEFT_MERGE(Multiply, multiply)
WEFT_MERGE(Average, average)
WEFT_MERGE(Maximum, maximum)
WEFT_MERGE(Minimum, minimum)

Concatenate::Concatenate(int64_t axis, const std::string& name) : LayerOf("Concatenate", name), axis_(axis) {}
Tensor Concatenate::call(const Tensor& x, const CallOptions&) const { return x; }
std::vector<Tensor> Concatenate::call_many(const std::vector<Tensor>& inputs, const CallOptions&) const {
  return {inputs.size() == 1 ? inputs[0] : concat(inputs, axis_)};
}

Dot::Dot(int64_t axes, DotOptions o) : Dot(std::pair(axes, axes), std::move(o)) {}
Dot::Dot(std::pair<int64_t, int64_t> axes, DotOptions o) : LayerOf("Dot", o.name), axes_(axes), o_(std::move(o)) {}

std::vector<Tensor> Dot::call_many(const std::vector<Tensor>& inputs, const CallOptions&) const {
  if (inputs.size() != 2)
    fail(Code::kInvalidArgument, "A `Dot` layer should be called on a list of exactly 2 inputs. Received: " + std::to_string(inputs.size()));
  const PartialShape sa = shape_of_rank(inputs[0], 2, 8, name()), sb = shape_of_rank(inputs[1], 2, 8, name());
  const int ra = int(sa.dims.size()), rb = int(sb.dims.size());
  const int64_t ia = positive_axis(axes_.first, ra, name()), ib = positive_axis(axes_.second, rb, name());
  if (ia == 0 || ib == 0)
    fail(Code::kInvalidArgument, "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch dimension to your inputs");
  Tensor a = inputs[0], b = inputs[1];
  if (o_.normalize) {
    a = l2_normalize(a, {.axis = {ia}});
    b = l2_normalize(b, {.axis = {ib}});
  }
  // Letters: z is the batch, s is summed.
  std::string left = "z", right = "z", out = "z";
  char next = 'a';
  for (int i = 1; i < ra; ++i) {
    left += i == ia ? 's' : next;
    if (i != ia) out += next++;
  }
  for (int i = 1; i < rb; ++i) {
    right += i == ib ? 's' : next;
    if (i != ib) out += next++;
  }
  Tensor y = einsum(left + "," + right + "->" + out, {a, b});
  if (out.size() == 1) y = expand_dims(y, 1);  // two vectors: a column
  return {y};
}

}  // namespace weft::nn
