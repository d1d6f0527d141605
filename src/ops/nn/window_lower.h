// What the rules of convolutions and pools share: windows with open sizes, and layouts.
#pragma once

#include "ops/math/math_lower.h"
#include "ops/nn/window.h"

namespace weft_engine::ops {

// Channels last, and back to the op's own layout.
ir::Value channels_last(op::LowerContext& l, ir::Value x, bool channels_first);
ir::Value channels_back(op::LowerContext& l, ir::Value x, bool channels_first);
std::vector<ir::Dim> channels_last(const std::vector<ir::Dim>& dims, bool channels_first);

// The window of a forward op over an input (channels last) of these dims; an error if it has no room. `sizes`: one a spatial dimension.
std::optional<ir::Window> make_window(op::LowerContext& l, const WindowAttrs& a, const std::vector<int64_t>& sizes, const std::vector<ir::Dim>& in);
// Spatial sizes of its result.
std::vector<ir::Dim> window_out(const ir::Window& w, const std::vector<ir::Dim>& in);
// Padding (low, high) of the transposed window: over a result with holes (stride - 1) it gives the input back.
void transposed_padding(const ir::Window& w, const std::vector<ir::Dim>& in, const std::vector<ir::Dim>& out, std::vector<ir::Dim>& low,
                        std::vector<ir::Dim>& high);

// Minus infinity, or the lowest integer.
ir::Value below_all(ir::Builder& b, core::DType t);
// The windows' elements one place of the windows after the other: for each the tensor [batch, windows..., channels] of what the windows have there.
// `padded`: the input with the window's padding around it.
ir::Value with_padding(ir::Builder& b, ir::Value x, ir::Value padding, const ir::Window& w);
std::vector<ir::Value> places_of_windows(ir::Builder& b, ir::Value padded, const ir::Window& w, const std::vector<ir::Dim>& out);
// Values [batch, windows..., channels] at one place of the windows, brought back to an input of these dims; zeros elsewhere.
ir::Value place_back(ir::Builder& b, ir::Value y, const ir::Window& w, const std::vector<ir::Dim>& in, int64_t place);
inline int64_t places(const ir::Window& w) {
  int64_t n = 1;
  for (int64_t k : w.size) n *= k;
  return n;
}

}  // namespace weft_engine::ops
