// Convolutions by 3x3 filters of stride 1 in Winograd's form (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks): tiles of
// 4x4 results are made from 6x6 pixels with 36 multiplications instead of 144. With the points 0, 1, -1, 1/2, -2 and infinity, filters
// are evaluated at the points in both directions; that is two products by constants here, so that loops which use a filter again and
// again leave it in front of them. Pixels and results are the code generator's (compiler/llvm/winograd.cc).
#include <algorithm>

#include "ir/insert.h"
#include "ir/simplify.h"

namespace weft_engine::ir {
namespace {

constexpr int64_t kPoints = 6, kTaps = 3;
// Filters to their values at the points, a_i^j / f_i, where f_i is the product of a_i - a_j; and values back to the sums for each tap.
constexpr float kToPoints[kPoints][kTaps] = {
    {1, 0, 0}, {1.f / 3, 1.f / 3, 1.f / 3}, {-1.f / 3, 1.f / 3, -1.f / 3}, {-16.f / 15, -8.f / 15, -4.f / 15}, {1.f / 15, -2.f / 15, 4.f / 15},
    {0, 0, 1}};
constexpr float kToTaps[kTaps][kPoints] = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, .5f, -2, 0}, {0, 1, 1, .25f, 4, 1}};

class Pass {
 public:
  explicit Pass(Module& m) : module_(m) {}

  bool run(Region& r) {
    bool any = false;
    for (size_t k = 0; k < r.instrs.size(); ++k) {
      for (auto& part : r.instrs[k]->regions) any = run(*part) || any;
      Instr& i = *r.instrs[k];
      if (!serves(i)) continue;
      any = true;
      parent_ = &r, node_ = i.node;
      now_.clear();
      if (i.op == Op::kConv) {
        i.operands[1] = to_points(i.operands[1]);
        i.window.winograd = true;
      } else {
        // This instruction becomes the last of those that bring the result back.
        Instr* sums = add(Op::kConvFilterGrad, {i.type.dtype, {kPoints, kPoints, i.dim(2), i.dim(3)}}, i.operands);
        sums->window = i.window;
        sums->window.winograd = true;
        i.operands = {to_taps(sums)};
        i.op = Op::kReshape;
        i.window = Window();
      }
      k = insert(r, k, now_);
    }
    return any;
  }

 private:
  static bool serves(const Instr& i) {
    const bool gradient = i.op == Op::kConvFilterGrad;
    if ((i.op != Op::kConv && !gradient) || i.type.dtype != DType::kFloat || i.rank() != 4) return false;
    const Window& w = i.window;
    if (w.winograd || w.groups != 1) return false;
    const Instr &x = i.operand(0), &y = gradient ? i.operand(1) : i;
    const Dim &c = x.dim(3), &f = y.dim(3), batch = y.dim(0);
    if (!c.is_const() || !f.is_const()) return false;
    double tiles = 1, used = 1;
    for (size_t d = 0; d < 2; ++d) {
      const Dim &in = x.dim(int(d) + 1), &out = y.dim(int(d) + 1);
      if (w.size[d] != kTaps || w.stride[d] != 1 || (!w.dilation.empty() && w.dilation[d] != 1) ||
          (!w.base_dilation.empty() && w.base_dilation[d] != 1))
        return false;
      if (!in.is_const() || !out.is_const() || !w.low[d].is_const() || !w.high[d].is_const() || in.value() < 1 || out.value() < 1) return false;
      if (w.low[d].value() < 0 || w.low[d].value() > 2 || w.high[d].value() < 0) return false;
      tiles *= double((out.value() + 3) / 4), used *= double(out.value());
    }
    // Few channels leave nothing to win behind the transforms (and the code wants whole vectors); with very many the filter's is too
    // large. Nor may the tiles be mostly beyond the edge, nor so few that the filter's transform does not pay.
    constexpr int64_t kLeast = 16, kMost = 256 * 512, kLeastTiles = 8;  // open numbers of images: as if they were two
    if (c.value() < kLeast || f.value() < kLeast || c.value() > kMost / f.value()) return false;
    const double all = tiles * (batch.is_const() ? double(batch.value()) : 2);
    return all >= kLeastTiles && used >= 0.55 * 16 * tiles;
  }

  Instr* add(Op op, Type type, std::vector<Instr*> operands) {
    now_.push_back(new_instr(module_, op, std::move(type), std::move(operands), node_, parent_));
    return now_.back().get();
  }
  Instr* reshape(Instr* x, std::vector<Dim> dims) { return add(Op::kReshape, {x->type.dtype, std::move(dims)}, {x}); }
  // The same matrix `times` times; once: as a matrix.
  Instr* matrix(const float* m, int64_t rows, int64_t columns, int64_t times) {
    std::vector<int64_t> dims{rows, columns};
    if (times > 1) dims.insert(dims.begin(), times);
    auto t = Tensor::allocate(DType::kFloat, core::Shape(dims));
    Instr* i = add(Op::kConstant, {DType::kFloat, std::vector<Dim>(dims.begin(), dims.end())}, {});
    for (int64_t k = 0; k < times; ++k) std::copy(m, m + rows * columns, t->data<float>() + k * rows * columns);
    i->literal = *t;
    return i;
  }
  Instr* dot(Instr* a, Instr* b) {
    std::vector<Dim> dims = b->type.dims;
    dims[dims.size() - 2] = a->dim(a->rank() - 2);
    return add(Op::kDot, {DType::kFloat, std::move(dims)}, {a, b});
  }

  Instr* to_points(Instr* filter) {
    const Dim c = filter->dim(2), f = filter->dim(3), n = c * f;
    Instr* rows = dot(matrix(kToPoints[0], kPoints, kTaps, 1), reshape(filter, {kTaps, kTaps * n}));
    Instr* both = dot(matrix(kToPoints[0], kPoints, kTaps, kPoints), reshape(rows, {kPoints, kTaps, n}));
    return reshape(both, {kPoints, kPoints, c, f});
  }
  // [3, 3 c f]
  Instr* to_taps(Instr* sums) {
    const Dim n = sums->dim(2) * sums->dim(3);
    Instr* columns = dot(matrix(kToTaps[0], kTaps, kPoints, kPoints), reshape(sums, {kPoints, kPoints, n}));
    return dot(matrix(kToTaps[0], kTaps, kPoints, 1), reshape(columns, {kPoints, kTaps * n}));
  }

  Module& module_;
  Region* parent_ = nullptr;
  std::string node_;
  Instrs now_;
};

}  // namespace

bool use_winograd(Module& m) { return Pass(m).run(*m.main); }

}  // namespace weft_engine::ir
