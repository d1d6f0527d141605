// Convolutions as cuDNN has them: filters are [out, spatial..., c / groups], and the gradient of the input takes the filter of the forward convolution as it is. So both
// read the same transposed filter, and what becomes of a filter's gradient reads it where it lies.
#include <algorithm>

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
      const size_t more = now_.size();
      r.instrs.insert(r.instrs.begin() + long(k), std::make_move_iterator(now_.begin()), std::make_move_iterator(now_.end()));
      k += more;
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
      return true;
    }
    if (!ones(w.base_dilation)) return false;
    i.operands[1] = out_first(f);
    i.index = int(FilterForm::kOutFirst);
    return true;
  }

  // This instruction becomes the transpose of one that gives [out, spatial..., c / groups].
  bool filter_gradient(Instr& i) {
    std::vector<Dim> dims = i.type.dims;
    std::rotate(dims.begin(), dims.end() - 1, dims.end());
    Instr* sums = add(Op::kConvFilterGrad, {i.type.dtype, dims}, i.operands);
    sums->window = i.window;
    sums->index = int(FilterForm::kOutFirst);
    i.op = Op::kTranspose;
    i.operands = {sums};
    i.axes = first_axes(i.rank());
    std::rotate(i.axes.begin(), i.axes.begin() + 1, i.axes.end());
    i.window = Window();
    return true;
  }

  // [spatial..., c, out] to [out, spatial..., c].
  Instr* out_first(Instr* f) {
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
        if (same) return out_first(forward);
      }
    }
    std::vector<int> axes{spatial};
    for (int d = 0; d < spatial; ++d) axes.push_back(d);
    axes.push_back(spatial + 1);
    return transpose(g, std::move(axes));
  }

  Instr* add(Op op, Type type, std::vector<Instr*> operands) {
    auto p = std::make_unique<Instr>();
    p->op = op;
    p->id = module_.next_id++;
    p->type = std::move(type);
    p->operands = std::move(operands);
    p->node = node_;
    p->parent = parent_;
    now_.push_back(std::move(p));
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
  std::vector<std::unique_ptr<Instr>> now_;
};

}  // namespace

bool put_out_first(Module& m) { return Pass(m).run(*m.main); }

}  // namespace weft_engine::ir
