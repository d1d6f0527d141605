// Convolutions as cuDNN has them: filters are [out, spatial..., c / groups], and the gradient of the input takes the filter of the forward convolution as it is. So both
// read the same transposed filter, and what becomes of a filter's gradient reads it where it lies. Padding is the same on both sides, since cuDNN has engines that are wrong for
// other convolutions: the rest of it is an instruction of its own, which the loop that makes the input writes at once, and of an input's gradient a part is read.
#include <algorithm>
#include <optional>

#include "ir/insert.h"
#include "ir/simplify.h"

namespace weft_engine::ir {
namespace {

class Pass {
 public:
  explicit Pass(Module& m) : module_(m) {}

  bool run(Region& r) {
    bool any = false;
    for (size_t k = 0; k < r.instrs.size(); ++k) {
      for (auto& part : r.instrs[k]->regions) any = run(*part) || any;
      Instr& i = *r.instrs[k];
      if ((i.op != Op::kConv && i.op != Op::kConvFilterGrad) || filter_form(i) != FilterForm::kPlain || !serves(i)) continue;
      parent_ = &r, node_ = i.node;
      now_.clear();
      if (!(i.op == Op::kConv ? convolution(i) : filter_gradient(i))) continue;
      any = true;
      k = insert(r, k, now_);
    }
    return any;
  }

 private:
  static bool serves(const Instr& i) {
    const DType t = i.operand(0).type.dtype;
    return (t == DType::kFloat || t == DType::kHalf || t == DType::kBfloat16 || t == DType::kDouble) && !i.window.winograd && i.rank() <= 5;
  }
  static bool ones(const std::vector<int64_t>& v) {
    return std::all_of(v.begin(), v.end(), [](int64_t n) { return n == 1; });
  }
  static std::vector<int> first_axes(int n) {
    std::vector<int> axes;
    for (int d = 0; d < n; ++d) axes.push_back(d);
    return axes;
  }

  bool convolution(Instr& i) {
    const Window& w = i.window;
    const int spatial = i.rank() - 2;
    Instr* f = i.operands[1];
    const bool reversed = f->op == Op::kReverse && f->axes == first_axes(spatial);
    if (w.groups == 1 && ones(w.stride) && (reversed || !ones(w.base_dilation))) {
      Instr* g = reversed ? f->operands[0] : ones(w.size) ? f : reverse(f, first_axes(spatial));
      i.operands[1] = of_forward(g, spatial);
      i.index = int(FilterForm::kOfForward);
      even_gradient(i);
      return true;
    }
    if (!ones(w.base_dilation)) return false;
    i.operands[1] = output_channels_first(f);
    i.index = int(FilterForm::kOutputChannelsFirst);
    i.operands[0] = evenly_padded(i.operands[0], i.type, i.window);
    return true;
  }

  // Padding of the forward convolution from [..., in, ...] to [..., out, ...]; nothing: sizes are open, or there is more than one batch in front.
  struct Padding {
    std::vector<int64_t> low, high;
    bool even() const { return low == high; }
    int64_t both(size_t d) const { return std::min(low[d], high[d]); }
  };
  static std::optional<Padding> padding(const Window& w, const Type& in, const Type& out, bool of_gradient) {
    Padding p;
    for (size_t d = 0; d < w.size.size(); ++d) {
      const Dim &n = in.dims[d + 1], &m = out.dims[d + 1];
      if (!w.low[d].is_const() || !n.is_const() || !m.is_const()) return std::nullopt;
      const int64_t span = (w.size[d] - 1) * (w.dilation.empty() ? 1 : w.dilation[d]);
      const int64_t stride = of_gradient ? (w.base_dilation.empty() ? 1 : w.base_dilation[d]) : w.stride[d];
      p.low.push_back(of_gradient ? span - w.low[d].value() : w.low[d].value());
      // Behind: what the last window needs.
      p.high.push_back(std::max<int64_t>((m.value() - 1) * stride + span + 1 - n.value() - p.low.back(), 0));
      if (p.low.back() < 0) return std::nullopt;
    }
    return p;
  }

  Instr* evenly_padded(Instr* x, const Type& out, Window& w) {
    const auto p = padding(w, x->type, out, false);
    if (!p || p->even()) return x;
    Type padded = x->type;
    std::vector<Dim> low(x->type.dims.size(), 0), high = low;
    for (size_t d = 0; d < p->low.size(); ++d) {
      low[d + 1] = p->low[d] - p->both(d);
      high[d + 1] = p->high[d] - p->both(d);
      padded.dims[d + 1] = padded.dims[d + 1] + low[d + 1] + high[d + 1];
      w.low[d] = w.high[d] = p->both(d);
    }
    Instr* zero = add(Op::kConstant, {x->type.dtype, {}}, {});
    zero->literal = Tensor::zeros(x->type.dtype, core::Shape()).value();
    Instr* pad = add(Op::kPad, padded, {x, zero});
    pad->low = low;
    pad->high = high;
    pad->interior.assign(low.size(), 0);
    return pad;
  }

  // The gradient of an input: of one with even padding, and a part of that.
  void even_gradient(Instr& i) {
    const auto p = padding(i.window, i.type, i.operand(0).type, true);
    if (!p || p->even()) return;
    Type padded = i.type;
    std::vector<Dim> starts(i.type.dims.size(), 0);
    Window w = i.window;
    for (size_t d = 0; d < p->low.size(); ++d) {
      const int64_t span = (w.size[d] - 1) * (w.dilation.empty() ? 1 : w.dilation[d]), holes = w.base_dilation.empty() ? 1 : w.base_dilation[d];
      const int64_t more = p->low[d] + p->high[d] - 2 * p->both(d), n = i.type.dims[d + 1].value() + more;
      starts[d + 1] = p->low[d] - p->both(d);
      padded.dims[d + 1] = n;
      w.low[d] = span - p->both(d);
      w.high[d] = n - ((i.operand(0).dim(int(d) + 1).value() - 1) * holes + 1) - (span - p->both(d)) + span;
    }
    Instr* whole = add(Op::kConv, padded, i.operands);
    whole->window = w;
    whole->index = i.index;
    i.op = Op::kSlice;
    i.operands = {whole};
    i.starts = starts;
    i.steps.assign(starts.size(), 1);
    i.window = Window();
    i.index = 0;
  }

  // This instruction becomes the transpose of one that gives [out, spatial..., c / groups].
  bool filter_gradient(Instr& i) {
    std::vector<Dim> dims = i.type.dims;
    std::rotate(dims.begin(), dims.end() - 1, dims.end());
    Window w = i.window;
    Instr* x = evenly_padded(i.operands[0], i.operand(1).type, w);
    Instr* sums = add(Op::kConvFilterGrad, {i.type.dtype, dims}, {x, i.operands[1]});
    sums->window = w;
    sums->index = int(FilterForm::kOutputChannelsFirst);
    i.op = Op::kTranspose;
    i.operands = {sums};
    i.axes = first_axes(i.rank());
    std::rotate(i.axes.begin(), i.axes.begin() + 1, i.axes.end());
    i.window = Window();
    return true;
  }

  // [spatial..., c, out] to [out, spatial..., c].
  Instr* output_channels_first(Instr* f) {
    std::vector<int> axes = first_axes(f->rank());
    std::rotate(axes.begin(), axes.end() - 1, axes.end());
    return transpose(f, std::move(axes));
  }

  // g [spatial..., c, out] is the forward filter with its depths exchanged; c first.
  Instr* of_forward(Instr* g, int spatial) {
    Instr* t = g->op == Op::kReshape ? g->operands[0] : g;
    if (t->op == Op::kTranspose) {
      Instr* from = t->operands[0];
      Instr* forward = t == g ? from : from->op == Op::kReshape ? from->operands[0] : nullptr;
      std::vector<int> exchanged = first_axes(spatial);
      if (t == g) exchanged.insert(exchanged.end(), {spatial + 1, spatial});
      else exchanged.insert(exchanged.end(), {spatial + 2, spatial + 1, spatial});  // one group lies between
      if (t->axes == exchanged && forward && forward->rank() == spatial + 2 && (t == g || from->dim(spatial + 1).is(1))) {
        bool same = forward->dim(spatial) == g->dim(spatial + 1) && forward->dim(spatial + 1) == g->dim(spatial);
        for (int d = 0; d < spatial; ++d) same = same && forward->dim(d) == g->dim(d);
        if (same) return output_channels_first(forward);
      }
    }
    std::vector<int> axes{spatial};
    for (int d = 0; d < spatial; ++d) axes.push_back(d);
    axes.push_back(spatial + 1);
    return transpose(g, std::move(axes));
  }

  Instr* add(Op op, Type type, std::vector<Instr*> operands) {
    now_.push_back(new_instr(module_, op, std::move(type), std::move(operands), node_, parent_));
    return now_.back().get();
  }
  Instr* transpose(Instr* x, std::vector<int> axes) {
    std::vector<Dim> dims;
    for (int a : axes) dims.push_back(x->dim(a));
    Instr* t = add(Op::kTranspose, {x->type.dtype, std::move(dims)}, {x});
    t->axes = std::move(axes);
    return t;
  }
  Instr* reverse(Instr* x, std::vector<int> axes) {
    Instr* t = add(Op::kReverse, x->type, {x});
    t->axes = std::move(axes);
    return t;
  }

  Module& module_;
  Region* parent_ = nullptr;
  std::string node_;
  Instrs now_;
};

}  // namespace

bool put_output_channels_first(Module& m) { return Pass(m).run(*m.main); }

}  // namespace weft_engine::ir
