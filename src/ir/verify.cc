#include <unordered_set>

#include "core/cat.h"
#include "core/status.h"
#include "ir/attention.h"

namespace weft_engine::ir {
namespace {

// Sizes that cannot be equal, whatever the symbols are.
bool differ(const Dim& a, const Dim& b) {
  if (a == b) return false;
  const Dim d = a - b;
  return d.is_const();
}

bool differ(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  if (a.size() != b.size()) return true;
  for (size_t k = 0; k < a.size(); ++k) {
    if (differ(a[k], b[k])) return true;
  }
  return false;
}

bool differ(const Type& a, const Type& b) { return a.dtype != b.dtype || differ(a.dims, b.dims); }

bool is_index(const Type& t) { return t.dtype == DType::kInt32 || t.dtype == DType::kInt64; }

class Verifier {
 public:
  explicit Verifier(const Module& m) : module_(m) {}

  core::Status run() {
    const Region& main = *module_.main;
    if (main.parameters.size() != module_.parameters.size())
      return core::internal_error("IR: ", main.parameters.size(), " parameters, ", module_.parameters.size(), " described");
    if (main.results.size() != module_.results.size())
      return core::internal_error("IR: ", main.results.size(), " results, ", module_.results.size(), " described");
    WEFT_RETURN_IF_ERROR(region(main, 0));
    for (size_t k = 0; k < main.parameters.size(); ++k) {
      if (differ(main.parameters[k]->type, module_.parameters[k].type))
        return core::internal_error("IR: parameter ", k, " is not of the type described");
    }
    std::unordered_set<int> states;
    for (size_t k = 0; k < main.results.size(); ++k) {
      const int s = module_.results[k].state;
      if (s < 0) continue;
      if (size_t(s) >= module_.parameters.size() || module_.parameters[size_t(s)].kind != Parameter::Kind::kState || !states.insert(s).second)
        return core::internal_error("IR: result ", k, " is the new value of parameter ", s, ", which is not a state or has one already");
      if (differ(main.results[k]->type, main.parameters[size_t(s)]->type))
        return core::internal_error("IR: the new value of state ", s, " is of another type");
    }
    return {};
  }

 private:
  static constexpr int kDeepest = 600;  // loops and branches in each other

  core::Status region(const Region& r, int depth) {
    if (depth > kDeepest) return core::unimplemented("the compiler does not handle branches and loops that nest more than ", kDeepest, " deep");
    const size_t outside = seen_.size();
    std::vector<const Instr*> here;
    size_t parameters = 0;
    for (const auto& p : r.instrs) {
      const Instr& i = *p;
      if (i.parent != &r) return wrong(i, "is in another region than it says");
      for (const Instr* o : i.operands) {
        if (!o || !seen_.contains(o)) return wrong(i, "reads a value that is not there yet");
      }
      if (i.op == Op::kParameter &&
          (size_t(i.index) != parameters++ || size_t(i.index) >= r.parameters.size() || r.parameters[size_t(i.index)] != &i))
        return wrong(i, "is not the parameter it says");
      if (i.message >= int(module_.messages.size())) return wrong(i, "has an error without a text");
      for (const auto& part : i.regions) {
        if (part->owner != &i) return wrong(i, "has a region of another");
        WEFT_RETURN_IF_ERROR(region(*part, depth + 1));
      }
      if (const char* why = check(i)) return wrong(i, why);
      if (!ids_.insert(i.id).second) return wrong(i, "has the number of another");
      seen_.insert(&i);
      here.push_back(&i);
    }
    if (parameters != r.parameters.size()) return core::internal_error("IR: parameters of a region are missing");
    for (const Instr* v : r.results) {
      if (!v || !seen_.contains(v)) return core::internal_error("IR: a result of a region is not there");
      if (has_results(v->op) || v->op == Op::kCheck) return wrong(*v, "has no single result");
    }
    if (depth > 0) {
      for (const Instr* i : here) seen_.erase(i);
      if (seen_.size() != outside) return core::internal_error("IR: an instruction is in two regions");
    }
    return {};
  }

  static core::Status wrong(const Instr& i, std::string_view why) {
    std::string operands;
    for (const Instr* o : i.operands) operands += core::cat(operands.empty() ? "" : ", ", o ? o->type.to_string() : "nothing");
    return core::internal_error("IR: %", i.id, " (", name_of(i.op), " of ", operands, " to ", i.type.to_string(), " for '", i.node, "') ", why);
  }

  static bool has(const Instr& i, size_t n) { return i.operands.size() == n; }
  static bool axes_in(const std::vector<int>& axes, int rank, bool ascending) {
    int last = -1;
    for (int a : axes) {
      if (a < 0 || a >= rank || (ascending && a <= last)) return false;
      last = a;
    }
    return true;
  }

  // What does not hold, or null.
  static const char* check(const Instr& i) {
    for (const Instr* o : i.operands) {
      const bool several = has_results(o->op);
      if (several != (i.op == Op::kGet) || o->op == Op::kCheck) return "reads something that is not a tensor";
    }
    if (i.op == Op::kAttention || i.op == Op::kAttentionGrad) {
      const bool forward = i.op == Op::kAttention;
      return !has(i, forward ? 3 : 6) || i.results.size() != (forward ? 2 : 1) || i.steps.size() != 7 || i.interior.size() != (forward ? 20 : 40)
                 ? "has wrong operands"
                 : nullptr;
    }
    switch (i.op) {
      case Op::kUnary:
      case Op::kBinary:
      case Op::kCompare:
      case Op::kSelect:
      case Op::kConvert:
      case Op::kBitcast: return check_elementwise(i);
      case Op::kBroadcast:
      case Op::kReshape:
      case Op::kTranspose:
      case Op::kSlice:
      case Op::kPad:
      case Op::kConcat:
      case Op::kReverse:
      case Op::kDynamicSlice:
      case Op::kDynamicUpdate:
      case Op::kGather:
      case Op::kScatter: return check_movement(i);
      case Op::kWhile:
      case Op::kIf:
      case Op::kGet:
      case Op::kCheck: return check_control(i);
      default: return check_other(i);
    }
  }

  static const char* check_elementwise(const Instr& i) {
    const size_t n = i.op == Op::kSelect ? 3 : i.op == Op::kBinary || i.op == Op::kCompare ? 2 : 1;
    if (!has(i, n)) return "has another number of operands";
    for (const Instr* o : i.operands) {
      if (differ(o->type.dims, i.type.dims)) return "has operands of other sizes";
    }
    const DType first = i.operand(0).type.dtype, out = i.type.dtype;
    const bool test = i.op == Op::kUnary && (i.unary == Unary::kIsNan || i.unary == Unary::kIsInf || i.unary == Unary::kIsFinite);
    bool good = true;
    switch (i.op) {
      case Op::kUnary:
        if (i.unary == Unary::kReal || i.unary == Unary::kImag) good = core::is_complex_type(first) && out == part_type(first);
        else good = test ? out == DType::kBool : out == first;
        break;
      case Op::kBinary: good = (i.binary == Binary::kComplex ? out == complex_type(first) : out == first) && i.operand(1).type.dtype == first; break;
      case Op::kCompare: good = out == DType::kBool && i.operand(1).type.dtype == first; break;
      case Op::kSelect: good = first == DType::kBool && i.operand(1).type.dtype == out && i.operand(2).type.dtype == out; break;
      case Op::kBitcast: good = core::dtype_size(first) == core::dtype_size(out); break;
      default: break;
    }
    return good ? nullptr : "has types that do not go together";
  }

  static const char* check_movement(const Instr& i) {
    const size_t least = i.op == Op::kPad || i.op == Op::kGather || i.op == Op::kDynamicUpdate ? 2 : i.op == Op::kScatter ? 3 : 1;
    if (i.operands.size() < least) return "lacks operands";
    const Type& x = i.operand(0).type;
    const size_t rank = size_t(x.rank());
    if (x.dtype != i.type.dtype) return "changes the type";
    auto scalars = [&](size_t from) {
      if (i.operands.size() != from + rank) return false;
      for (size_t k = from; k < i.operands.size(); ++k) {
        if (i.operands[k]->type.dtype != DType::kInt64 || i.operands[k]->rank() != 0) return false;
      }
      return true;
    };
    switch (i.op) {
      case Op::kBroadcast:
        if (i.axes.size() != rank || !axes_in(i.axes, i.rank(), true)) return "has wrong axes";
        for (size_t d = 0; d < rank; ++d) {
          if (!x.dims[d].is(1) && differ(x.dims[d], i.dim(i.axes[d]))) return "repeats a size that is not 1";
        }
        return nullptr;
      case Op::kReshape: return differ(x.elements(), i.type.elements()) ? "changes the number of elements" : nullptr;
      case Op::kTranspose:
        if (i.axes.size() != rank || i.type.dims.size() != rank || !axes_in(i.axes, int(rank), false)) return "has wrong axes";
        for (size_t d = 0; d < rank; ++d) {
          if (differ(i.dim(int(d)), x.dims[size_t(i.axes[d])])) return "has wrong sizes";
        }
        return std::unordered_set<int>(i.axes.begin(), i.axes.end()).size() == rank ? nullptr : "has wrong axes";
      case Op::kSlice:
        if (i.starts.size() != rank || i.steps.size() != rank || i.type.dims.size() != rank) return "has wrong ranks";
        for (int64_t s : i.steps) {
          if (s <= 0) return "has a step that is not positive";
        }
        return nullptr;
      case Op::kPad:
        return i.low.size() != rank || i.high.size() != rank || i.interior.size() != rank || i.type.dims.size() != rank || i.operand(1).rank() != 0
                   ? "has wrong ranks"
                   : nullptr;
      case Op::kConcat: {
        if (i.axes.size() != 1 || !axes_in(i.axes, int(rank), true)) return "has wrong axes";
        Dim total(0);
        for (const Instr* o : i.operands) {
          if (o->type.dtype != i.type.dtype || o->type.dims.size() != rank) return "has operands of other types";
          total = total + o->dim(i.axes[0]);
        }
        return differ(total, i.dim(i.axes[0])) ? "has wrong sizes" : nullptr;
      }
      case Op::kReverse: return !axes_in(i.axes, int(rank), false) || differ(x.dims, i.type.dims) ? "has wrong axes" : nullptr;
      case Op::kDynamicSlice: return !scalars(1) || i.type.dims.size() != rank ? "has wrong starts" : nullptr;
      case Op::kDynamicUpdate:
        return !scalars(2) || differ(x, i.type) || i.operand(1).type.dtype != x.dtype || size_t(i.operand(1).rank()) != rank
                   ? "has wrong starts or sizes"
                   : nullptr;
      case Op::kGather:
        if (i.axes.size() != 1 || !axes_in(i.axes, int(rank), true) || i.batch < 0 || i.batch > i.axes[0] || i.batch > i.operand(1).rank())
          return "has wrong axes";
        return !is_index(i.operand(1).type) || i.rank() != int(rank) - 1 + i.operand(1).rank() - i.batch ? "has wrong indices" : nullptr;
      default:
        return rank == 0 || differ(x, i.type) || i.operand(1).rank() != 1 || !is_index(i.operand(1).type) || size_t(i.operand(2).rank()) != rank
                   ? "has wrong sizes"
                   : nullptr;
    }
  }

  static const char* check_control(const Instr& i) {
    if (i.op == Op::kGet) {
      if (!has(i, 1) || size_t(i.index) >= i.operand(0).results.size() || i.index < 0) return "is of a result that is not there";
      return differ(i.type, i.operand(0).results[size_t(i.index)]) ? "is of another type" : nullptr;
    }
    if (i.op == Op::kCheck)
      return !has(i, 1) || i.operand(0).type.dtype != DType::kBool || i.operand(0).rank() != 0 || i.message < 0 ? "is not a scalar with a text"
                                                                                                                : nullptr;
    if (i.op == Op::kIf) {
      if (!has(i, 1) || i.operand(0).rank() != 0 || i.regions.empty()) return "has no branches";
      if (i.operand(0).type.dtype != DType::kBool && i.operand(0).type.dtype != DType::kInt32) return "is decided by neither a bool nor an int32";
      if (i.operand(0).type.dtype == DType::kBool && i.regions.size() != 2) return "does not have two branches";
    } else if (i.regions.size() != 2 || i.operands.size() != i.results.size()) {
      return "lacks regions or operands";
    }
    for (size_t k = 0; k < i.regions.size(); ++k) {
      const Region& r = *i.regions[k];
      const bool loop = i.op == Op::kWhile;
      if (r.parameters.size() != (loop ? i.operands.size() : 0)) return "has a region with another number of parameters";
      for (size_t p = 0; p < r.parameters.size(); ++p) {
        if (differ(r.parameters[p]->type, i.operands[p]->type) || differ(i.results[p], i.operands[p]->type)) return "has parameters of other types";
      }
      if (loop && k == 0) {
        if (r.results.size() != 1 || r.results[0]->type.dtype != DType::kBool || r.results[0]->rank() != 0)
          return "has a condition that is not a bool";
        continue;
      }
      if (r.results.size() != i.results.size()) return "has a region with another number of results";
      for (size_t p = 0; p < r.results.size(); ++p) {
        if (differ(r.results[p]->type, i.results[p])) return "has results of other types";
      }
    }
    return nullptr;
  }

  static const char* check_other(const Instr& i) {
    auto rank = [&](size_t k) { return i.operands[k]->rank(); };
    switch (i.op) {
      case Op::kParameter:
      case Op::kIota:
        return i.operands.empty() && (i.op != Op::kIota || (i.axes.size() == 1 && axes_in(i.axes, i.rank(), true))) ? nullptr
                                                                                                                    : "has operands or wrong axes";
      case Op::kConstant:
        if (i.literal.dtype() != i.type.dtype || i.literal.rank() != i.rank()) return "has a literal of another type";
        for (int d = 0; d < i.rank(); ++d) {
          if (!i.dim(d).is(i.literal.dim(d))) return "has a literal of other sizes";
        }
        return nullptr;
      case Op::kSizes:
        return !i.known || i.rank() > 1 || !is_index(i.type) || !i.type.elements().is(int64_t(i.known->size())) ? "has wrong numbers" : nullptr;
      case Op::kReduce: return !has(i, 1) || !axes_in(i.axes, rank(0), true) || i.rank() != rank(0) - int(i.axes.size()) ? "has wrong axes" : nullptr;
      case Op::kArgReduce:
        return !has(i, 1) || i.axes.size() != 1 || !axes_in(i.axes, rank(0), true) || i.rank() != rank(0) - 1 || !is_index(i.type) ? "has wrong axes"
                                                                                                                                   : nullptr;
      case Op::kScan:
        return !has(i, 1) || i.axes.size() != 1 || !axes_in(i.axes, i.rank(), true) || differ(i.operand(0).type, i.type) ? "has wrong axes" : nullptr;
      case Op::kSort: return !has(i, 1) || i.results.size() != 2 || rank(0) < 1 ? "has wrong results" : nullptr;
      case Op::kPhilox: return !has(i, 2) || i.rank() != 1 || i.type.dtype != DType::kUint32 ? "has wrong types" : nullptr;
      case Op::kDot: {
        if (!has(i, 2) || i.rank() < 2 || rank(0) != i.rank() || rank(1) != i.rank()) return "has wrong ranks";
        const int n = i.rank();
        const Instr &a = i.operand(0), &b = i.operand(1);
        if (a.type.dtype != i.type.dtype || b.type.dtype != i.type.dtype) return "has operands of other types";
        if (differ(a.dim(i.transpose_a ? n - 2 : n - 1), b.dim(i.transpose_b ? n - 1 : n - 2)) ||
            differ(a.dim(i.transpose_a ? n - 1 : n - 2), i.dim(n - 2)) || differ(b.dim(i.transpose_b ? n - 2 : n - 1), i.dim(n - 1)))
          return "has sizes that do not go together";
        return nullptr;
      }
      case Op::kWindow:
      case Op::kMaxPoolGrad:
      case Op::kConv:
      case Op::kConvFilterGrad: {
        const size_t spatial = size_t(rank(0)) - 2;
        const Window& w = i.window;
        if (rank(0) < 3 || !has(i, i.op == Op::kWindow ? 1 : 2) || i.rank() != rank(0)) return "has wrong ranks";
        if (w.winograd) {
          const std::vector<Dim>& filter = i.op == Op::kConv ? i.operand(1).type.dims : i.type.dims;
          const Dim& out = i.op == Op::kConv ? i.dim(3) : i.operand(1).dim(3);
          if (i.op == Op::kWindow || i.op == Op::kMaxPoolGrad || i.type.dtype != DType::kFloat || spatial != 2 ||
              differ(filter, {Dim(6), Dim(6), i.operand(0).dim(3), out}))
            return "has a filter of another form";
        }
        return w.size.size() != spatial || w.stride.size() != spatial || w.low.size() != spatial || w.high.size() != spatial
                   ? "has a window of another rank"
                   : nullptr;
      }
      default: return nullptr;
    }
  }

  const Module& module_;
  std::unordered_set<const Instr*> seen_;
  std::unordered_set<int> ids_;
};

}  // namespace

core::Status verify(const Module& m) { return Verifier(m).run(); }

}  // namespace weft_engine::ir
