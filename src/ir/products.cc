// Products that a loop makes of one row after the other of a value from outside (the input of a recurrent cell by its kernel)
// become one product of all rows, in front of the loop.
#include <algorithm>

#include "ir/insert.h"
#include "ir/simplify.h"

namespace weft_engine::ir {
namespace {

class Hoister {
 public:
  explicit Hoister(Module& m) : module_(m) {}

  bool run(Region& r) {
    bool any = false;
    for (size_t k = 0; k < r.instrs.size(); ++k) {
      Instr* i = r.instrs[k].get();
      for (auto& part : i->regions) any = run(*part) || any;
      if (i->op != Op::kWhile) continue;
      Instrs before;
      Region& body = *i->regions[1];
      for (size_t n = 0; n < body.instrs.size(); ++n) {
        Instrs inside;
        if (!body.instrs[n] || !product(*body.instrs[n], body, r, before, inside)) continue;
        any = true;
        n = insert(body, n, inside);
      }
      k = insert(r, k, before);
    }
    return any;
  }

 private:
  Instr* add(Op op, Type type, std::vector<Instr*> operands, const Instr& like, Region& r, Instrs& to) {
    to.push_back(new_instr(module_, op, std::move(type), std::move(operands), like.node, &r));
    return to.back().get();
  }

  bool product(Instr& d, Region& body, Region& outer, Instrs& before, Instrs& inside) {
    if (d.op != Op::kDot || d.rank() != 2 || d.transpose_a || d.operand(1).parent == &body) return false;
    Instr* slice = d.operands[0];
    if (slice->op == Op::kReshape) slice = slice->operands[0];
    if (slice->op != Op::kDynamicSlice || slice->parent != &body) return false;
    Instr* x = slice->operands[0];
    // Whole rows of dimension 0, one at a time; their last dimension is the one that is summed over.
    if (x->parent == &body || x->rank() < 2 || !slice->dim(0).is(1) || !(x->dim(x->rank() - 1) == d.operand(0).dim(1))) return false;
    for (int k = 1; k < x->rank(); ++k) {
      if (!(slice->dim(k) == x->dim(k))) return false;
    }
    const Dim steps = x->dim(0), rows = d.dim(0), depth = d.operand(0).dim(1), columns = d.dim(1);
    const DType t = d.type.dtype;
    Instr* all = x;
    if (x->rank() != 2 || !(x->dim(0) == steps * rows)) all = add(Op::kReshape, {t, {steps * rows, depth}}, {x}, d, outer, before);
    Instr* product = add(Op::kDot, {t, {steps * rows, columns}}, {all, d.operands[1]}, d, outer, before);
    product->transpose_b = d.transpose_b;
    Instr* apart = add(Op::kReshape, {t, {steps, rows, columns}}, {product}, d, outer, before);
    Instr* zero = add(Op::kConstant, {DType::kInt64, {}}, {}, d, outer, before);
    zero->literal = Tensor::scalar<int64_t>(0);
    zero->known = std::vector<Dim>{Dim(0)};
    Instr* row = add(Op::kDynamicSlice, {t, {Dim(1), rows, columns}}, {apart, slice->operands[1], zero, zero}, d, body, inside);
    d.op = Op::kReshape;
    d.operands = {row};
    d.transpose_b = false;
    return true;
  }

  Module& module_;
};

}  // namespace

bool hoist_products(Module& m) { return Hoister(m).run(*m.main); }

}  // namespace weft_engine::ir
