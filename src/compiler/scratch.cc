#include "compiler/scratch.h"

#include <algorithm>

namespace weft_engine::compiler {
namespace {

using ir::Dim;

// A multiple of 64 bytes.
Dim bytes_of(const Dim& elements, int64_t size) { return elements.is_const() ? Dim((elements.value() * size + 63) / 64 * 64) : elements * size + 64; }

bool is_narrow(core::DType t) { return t == core::DType::kHalf || t == core::DType::kBfloat16; }

// For choices alone: what is open is a batch of middling size.
double guess(const Dim& d) {
  const Dim n = d.substitute([](int) { return Dim(32); });
  return n.is_const() ? double(n.value()) : 32;
}

}  // namespace

DotPlan plan_dot(const ir::Instr& i) {
  using Way = DotPlan::Way;
  const ir::Type &a = i.operand(0).type, &b = i.operand(1).type;
  const int rank = a.rank();
  DotPlan p;
  p.batch = ir::product(std::span(a.dims).first(size_t(rank - 2)));
  p.m = a.dims[size_t(i.transpose_a ? rank - 1 : rank - 2)];
  p.k = a.dims[size_t(i.transpose_a ? rank - 2 : rank - 1)];
  p.n = b.dims[size_t(i.transpose_b ? rank - 2 : rank - 1)];
  p.narrow = is_narrow(a.dtype);
  const int64_t size = p.narrow ? 4 : int64_t(core::dtype_size(a.dtype));
  if (p.narrow) p.a = bytes_of(p.m * p.k, 4), p.b = bytes_of(p.k * p.n, 4), p.c = bytes_of(p.m * p.n, 4);
  const double m = guess(p.m), n = guess(p.n), k = guess(p.k);
  // B beyond the second cache, read again for many rows.
  if (m >= 128 && n >= 128 && k * n * double(size) >= (1 << 20)) p.panel = bytes_of(kPackRows * kPackColumns, size);
  // The rows of a tile a multiple of 4 kB apart would drive each other out of the first cache.
  const bool row_of_a = i.transpose_b ? (i.transpose_a ? 0 : m * k) + m * n < n * k || !i.transpose_a : !i.transpose_a;
  if (row_of_a && p.k.is_const() && p.k.value() > 0 && p.k.value() * size % 4096 == 0 && m >= 8 && n >= 64) p.rows = kPackABytes;
  if (!i.transpose_b) return p;
  if (!i.transpose_a && p.m.is_const() && m <= 4) {
    p.way = Way::kRows;
  } else if ((i.transpose_a ? 0 : m * k) + m * n < n * k) {
    p.way = Way::kSwap;
    if (!i.transpose_a) p.transposed = bytes_of(p.m * p.k, size);
    p.transposed_c = bytes_of(p.m * p.n, size);
  } else {
    p.way = Way::kTransposeB;
    p.transposed = bytes_of(p.k * p.n, size);
  }
  return p;
}

namespace {

// See ConvPlan::phased: for gradients of convolutions with strides.
bool plan_phases(const ir::Instr& i, ConvPlan& p) {
  const ir::Window& w = i.window;
  int64_t holes = 1, taps = 1;
  std::vector<Dim> size;
  std::vector<int64_t> before;
  for (size_t d = 0; d < w.size.size(); ++d) {
    const Dim &in = i.operand(0).type.dims[d + 1], &out = i.type.dims[d + 1];
    const int64_t h = w.base_dilation.empty() ? 1 : w.base_dilation[d];
    holes *= h, taps *= w.size[d];
    if (w.stride[d] != 1 || w.dilation[d] != 1 || !in.is_const() || !out.is_const() || !w.low[d].is_const() || in.value() < 1 || out.value() < 1)
      return false;
    // Input pixels that the outputs see: from -low / h to (out + size - 2 - low) / h, rounded inwards.
    const int64_t low = w.low[d].value(), last = out.value() + w.size[d] - 2 - low;
    before.push_back(low > 0 ? low / h : 0);
    size.push_back(before.back() + std::max(in.value(), last < 0 ? 0 : last / h + 1));
  }
  if (holes == 1 || holes > 16 || taps > 64 || w.groups > 1) return false;
  p.phased = true;
  p.size = std::move(size), p.before = std::move(before);
  return true;
}

}  // namespace

ConvPlan plan_conv(const ir::Instr& i) {
  const ir::Type &x = i.operand(0).type, &other = i.operand(1).type;
  const ir::Window& w = i.window;
  ConvPlan p;
  p.narrow = is_narrow(x.dtype);
  Dim elements = x.dims.back();
  for (size_t d = 0; d < w.size.size(); ++d) {
    const Dim& in = x.dims[d + 1];
    const int64_t holes = w.base_dilation.empty() ? 1 : w.base_dilation[d];
    const Dim spread = holes == 1 ? in : max((in - 1) * holes + 1, Dim(0));
    p.size.push_back(max(spread + w.low[d] + w.high[d], Dim(0)));
    if (!w.low[d].is(0) || !w.high[d].is(0) || holes != 1) p.padded = true;
    elements = elements * p.size.back();
  }
  if (i.op == ir::Op::kConv && plan_phases(i, p)) elements = x.dims.back() * ir::product(p.size);
  const int64_t size = p.narrow ? 4 : int64_t(core::dtype_size(x.dtype));
  if (p.padded) p.image = bytes_of(elements, size);
  if (p.narrow) p.x = bytes_of(x.elements(), 4), p.filter = bytes_of(other.elements(), 4), p.y = bytes_of(i.type.elements(), 4);
  return p;
}

WinogradPlan plan_winograd(const ir::Instr& i) {
  constexpr int64_t kFloat = 4;
  const bool gradient = i.op == ir::Op::kConvFilterGrad;
  const ir::Type &x = i.operand(0).type, &y = gradient ? i.operand(1).type : i.type;
  const int64_t channels = x.dims[3].value(), features = y.dims[3].value(), height = y.dims[1].value(), width = y.dims[2].value();
  WinogradPlan p;
  p.high = (height + 3) / kWinogradTile, p.wide = (width + 3) / kWinogradTile;
  p.x_height = p.high * kWinogradTile + 2, p.x_width = p.wide * kWinogradTile + 2;
  p.copy_x = !x.dims[1].is(p.x_height) || !x.dims[2].is(p.x_width) || !i.window.low[0].is(0) || !i.window.low[1].is(0);
  p.copy_y = gradient && (height % kWinogradTile || width % kWinogradTile);
  // As many tiles at a time as the second cache has room for, and enough that the filter is not read again for a few.
  constexpr int64_t kBytes = 256 << 10, kMost = 128;
  const int64_t least = std::clamp<int64_t>(channels * features / 1024, 16, 64);
  const int64_t tiles = std::clamp(kBytes / (kWinogradPoints * kFloat * (channels + features)), least, kMost);
  p.images = std::max<int64_t>(1, tiles / (p.high * p.wide));
  if (x.dims[0].is_const()) {
    const int64_t batch = std::max<int64_t>(1, x.dims[0].value()), parts = (batch + p.images - 1) / p.images;
    p.images = (batch + parts - 1) / parts;
  }
  p.rows = p.images > 1 ? p.high : std::clamp(tiles / p.wide, int64_t(1), p.high);
  // Not near a power of two, where all points would fall into the same places of the cache.
  const auto plane = [](int64_t n) { return (n + 15) / 16 * 16 + 16; };
  const int64_t block = p.images * p.rows * p.wide;
  p.x_plane = plane(block * channels), p.y_plane = plane(block * features);
  if (p.copy_x) p.x_image = bytes_of(p.images * p.x_height * p.x_width * channels, kFloat).value();
  if (p.copy_y) p.y_image = bytes_of(p.images * p.high * p.wide * 16 * features, kFloat).value();
  p.x_points = kWinogradPoints * p.x_plane * kFloat, p.y_points = kWinogradPoints * p.y_plane * kFloat;
  return p;
}

ir::Dim scratch_bytes(const ir::Instr& i) {
  switch (i.op) {
    case ir::Op::kDot: {
      const DotPlan p = plan_dot(i);
      return p.a + p.b + p.c + p.transposed + p.transposed_c + p.panel + p.rows;
    }
    case ir::Op::kConv:
    case ir::Op::kConvFilterGrad: {
      if (filter_form(i) != ir::FilterForm::kPlain) return 0;  // only GPUs have these
      if (i.window.winograd) return plan_winograd(i).bytes();
      const ConvPlan p = plan_conv(i);
      return p.image + p.x + p.filter + p.y;
    }
    default: return 0;
  }
}

bool worth_threads(const ir::Instr& i) {
  // Nanoseconds, roughly.
  constexpr double kWorth = 40e3, kPerMultiplication = 0.02, kPerElement = 0.2;
  const auto number = [](const ir::Dim& d) { return d.is_const() ? double(d.value()) : 0; };  // open sizes: it stays with one thread
  switch (i.op) {
    case ir::Op::kDot: {
      const DotPlan p = plan_dot(i);
      return !p.narrow && number(p.batch) * number(p.m) * number(p.n) * number(p.k) * kPerMultiplication > kWorth;
    }
    case ir::Op::kConv:
    case ir::Op::kConvFilterGrad: {
      const bool gradient = i.op == ir::Op::kConvFilterGrad;
      const ir::Type &x = i.operand(0).type, &y = gradient ? i.operand(1).type : i.type;
      if (is_narrow(x.dtype) || number(x.dims[0]) < 2) return false;
      double work = number(y.elements()) * number(x.dims.back()) / double(i.window.groups) * kPerMultiplication / (i.window.winograd ? 3 : 1);
      for (int64_t n : i.window.size) work *= double(n);
      return work > kWorth;
    }
    case ir::Op::kWindow:
    case ir::Op::kMaxPoolGrad: return number(i.operand(0).type.dims[0]) >= 2 && number(i.operand(0).type.elements()) * kPerElement > kWorth;
    case ir::Op::kReduce: return number(i.operand(0).type.elements()) * kPerElement > kWorth;
    default: return number(i.type.elements()) * kPerElement > kWorth;
  }
}

ir::Dim scratch_bytes(const ir::Instr& i, int threads) {
  if (threads == 0) return 0;  // GPUs' kernels have their own
  ir::Dim one = scratch_bytes(i);
  if (threads <= 1 || (i.op != ir::Op::kDot && i.op != ir::Op::kConv && i.op != ir::Op::kConvFilterGrad) || !worth_threads(i)) return one;
  one = one * threads;
  if (i.op == ir::Op::kConvFilterGrad) one = one + bytes_of(i.type.elements(), int64_t(core::dtype_size(i.type.dtype))) * (threads - 1);
  return one;
}

}  // namespace weft_engine::compiler
