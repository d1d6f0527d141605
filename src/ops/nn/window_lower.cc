#include "ops/nn/window_lower.h"

#include <limits>

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

using Dims = std::vector<ir::Dim>;
using V = ir::Value;

V channels_last(LowerContext& l, V x, bool channels_first) {
  if (!x || !channels_first) return x;
  std::vector<int> axes = {0};
  for (int i = 2; i < x->rank(); ++i) axes.push_back(i);
  axes.push_back(1);
  return l.b.transpose(x, axes);
}

V channels_back(LowerContext& l, V x, bool channels_first) {
  if (!x || !channels_first) return x;
  std::vector<int> axes = {0, x->rank() - 1};
  for (int i = 1; i + 1 < x->rank(); ++i) axes.push_back(i);
  return l.b.transpose(x, axes);
}

Dims channels_last(const Dims& dims, bool channels_first) {
  if (!channels_first) return dims;
  Dims out = {dims[0]};
  out.insert(out.end(), dims.begin() + 2, dims.end());
  out.push_back(dims[1]);
  return out;
}

std::optional<ir::Window> make_window(LowerContext& l, const WindowAttrs& a, const std::vector<int64_t>& sizes, const Dims& in) {
  ir::Window w;
  w.size = sizes;
  for (int i = 0; i < a.spatial; ++i) {
    const size_t at = size_t(a.axis(i)), k = size_t(i);
    w.stride.push_back(a.strides[at]);
    w.dilation.push_back(a.dilations.empty() ? 1 : a.dilations[at]);
    w.base_dilation.push_back(1);
    ir::Dim low = 0, high = 0;
    if (a.padding == "SAME") {
      ir::Builder::same_padding(in[k + 1], sizes[k], w.stride[k], w.dilation[k], low, high);
    } else if (!a.paddings.empty()) {
      low = a.paddings[2 * at];
      high = a.paddings[2 * at + 1];
    }
    // Errors with the engine's texts, as far as sizes are known.
    const auto room = a.window(i, in[k + 1].is_const() ? in[k + 1].value() : int64_t(1) << 32, sizes[k]);
    if (!room.ok()) {
      l.fail(room.status());
      return std::nullopt;
    }
    w.low.push_back(low);
    w.high.push_back(high);
  }
  return w;
}

Dims window_out(const ir::Window& w, const Dims& in) {
  Dims out;
  for (size_t i = 0; i < w.size.size(); ++i)
    out.push_back(ir::Builder::window_out(in[i + 1], w.size[i], w.stride[i], w.dilation[i], w.low[i], w.high[i]));
  return out;
}

void transposed_padding(const ir::Window& w, const Dims& in, const Dims& out, Dims& low, Dims& high) {
  for (size_t i = 0; i < w.size.size(); ++i) {
    low.push_back(ir::Dim((w.size[i] - 1) * w.dilation[i]) - w.low[i]);
    high.push_back(in[i + 1] - ir::Dim(1) - (out[i] - ir::Dim(1)) * ir::Dim(w.stride[i]) + w.low[i]);
  }
}

V below_all(ir::Builder& b, DType t) {
  if (is_floating_type(t)) return b.scalar(t, -std::numeric_limits<double>::infinity());
  const bool is_signed = t == DType::kInt8 || t == DType::kInt16 || t == DType::kInt32 || t == DType::kInt64;
  return b.scalar_int(t, is_signed ? int64_t(-1) << (dtype_size(t) * 8 - 1) : 0);
}

V with_padding(ir::Builder& b, V x, V padding, const ir::Window& w) {
  if (!x) return nullptr;
  Dims low(x->type.dims.size(), 0), high(low);
  for (size_t i = 0; i < w.size.size(); ++i) {
    low[i + 1] = w.low[i];
    high[i + 1] = w.high[i];
  }
  return b.pad(x, padding, low, high);
}

namespace {

// Where a place lies in a window: offsets of the spatial dimensions.
std::vector<int64_t> offsets(const ir::Window& w, int64_t place) {
  std::vector<int64_t> at(w.size.size());
  for (size_t i = at.size(); i-- > 0; place /= w.size[i]) at[i] = place % w.size[i] * w.dilation[i];
  return at;
}

}  // namespace

std::vector<V> places_of_windows(ir::Builder& b, V padded, const ir::Window& w, const Dims& out) {
  std::vector<V> parts;
  for (int64_t place = 0; padded && place < places(w); ++place) {
    const std::vector<int64_t> at = offsets(w, place);
    Dims starts(padded->type.dims.size(), 0), sizes = padded->type.dims;
    std::vector<int64_t> steps(starts.size(), 1);
    for (size_t i = 0; i < at.size(); ++i) {
      starts[i + 1] = at[i];
      sizes[i + 1] = out[i];
      steps[i + 1] = w.stride[i];
    }
    parts.push_back(b.slice(padded, starts, sizes, steps));
  }
  return parts;
}

V place_back(ir::Builder& b, V y, const ir::Window& w, const Dims& in, int64_t place) {
  if (!y) return nullptr;
  const std::vector<int64_t> at = offsets(w, place);
  Dims before(in.size(), 0), behind(in.size(), 0);
  std::vector<int64_t> holes(in.size(), 0);
  for (size_t i = 0; i < at.size(); ++i) {
    const ir::Dim reach = ir::Dim(at[i]) + (y->dim(int(i) + 1) - ir::Dim(1)) * ir::Dim(w.stride[i]) + ir::Dim(1);
    before[i + 1] = ir::Dim(at[i]) - w.low[i];
    behind[i + 1] = in[i + 1] + w.low[i] - reach;
    holes[i + 1] = w.stride[i] - 1;
  }
  return b.pad(y, b.scalar(y->type.dtype, 0), before, behind, holes);
}

}  // namespace weft_engine::ops
