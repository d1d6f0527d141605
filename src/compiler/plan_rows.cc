// Rows: where reductions along rows, what they are made of and what is made with them can run together on a GPU, so that each row is read once.
#include <algorithm>
#include <map>

#include "compiler/plan_internal.h"

namespace weft_engine::compiler {
namespace {

using ir::Op;

constexpr int64_t kLongestRow = 8192;  // what the threads of a block have room for in their registers

// Checks that nothing of other rows is asked for.
class Alignment {
 public:
  Alignment(const Draft& d, const Rows& rows, const std::unordered_set<const Instr*>& stores) : draft_(d), rows_(rows), stores_(stores) {}

  bool instr(const Instr* i, RowPart part) {
    if (ir::is_elementwise(i->op)) return operands(i, part);
    switch (i->op) {
      case Op::kReduce: return operands(i, rows_of(i) == rows_ ? RowPart::kAll : RowPart::kOther);
      case Op::kReshape: return operands(i, part_of(rows_, i->operand(0).type) == part ? part : RowPart::kOther);
      case Op::kBroadcast: return operands(i, broadcast(i, part));
      default: return operands(i, RowPart::kOther);
    }
  }

 private:
  bool operands(const Instr* i, RowPart part) {
    return std::all_of(i->operands.begin(), i->operands.end(), [&](const Instr* o) { return operand(o, part); });
  }

  bool operand(const Instr* o, RowPart part) {
    if (const Instr* home = draft_.home(o)) {
      return !stores_.contains(home) || (part != RowPart::kOther && part_of(rows_, home->type) == part && part_of(rows_, o->type) == part);
    }
    const auto [it, fresh] = seen_.emplace(std::make_pair(o, part), true);
    if (fresh) it->second = instr(o, part);
    return it->second;
  }

  // What of the operand an element of the result takes.
  RowPart broadcast(const Instr* i, RowPart part) const {
    const Instr& x = i->operand(0);
    const RowPart from = part_of(rows_, x.type);
    if (from == RowPart::kOther || part == RowPart::kOther || (from == RowPart::kAll && part == RowPart::kOne)) return RowPart::kOther;
    // The first dimensions of the result count the rows: a number for each row has no others.
    size_t behind = i->type.dims.size();
    if (from != part) {
      behind = 0;
      for (int64_t n = 1; behind < i->type.dims.size() && n < rows_.count; ++behind) n *= i->type.dims[behind].value();
    }
    int last = -1;
    for (size_t d = 0; d < x.type.dims.size(); ++d) {
      if (x.type.dims[d].is(1)) continue;
      if (i->axes[d] <= last || size_t(i->axes[d]) >= behind) return RowPart::kOther;
      last = i->axes[d];
    }
    return from;
  }

  const Draft& draft_;
  const Rows& rows_;
  const std::unordered_set<const Instr*>& stores_;
  std::map<std::pair<const Instr*, RowPart>, bool> seen_;
};

}  // namespace

Rows rows_of(const Instr* i) {
  if (i->op != Op::kReduce) return {};
  const ir::Type& from = i->operand(0).type;
  if (core::is_complex_type(from.dtype) || !from.elements().is_const()) return {};
  Rows r{1, 1};
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const int64_t n = from.dims[d].value();
    const bool goes = std::find(i->axes.begin(), i->axes.end(), int(d)) != i->axes.end();
    if (!goes && n != 1 && r.length != 1) return {};  // not the last ones
    (goes ? r.length : r.count) *= n;
  }
  return r.count >= 1 && r.length >= 2 && r.length <= kLongestRow ? r : Rows();
}

RowPart part_of(const Rows& rows, const ir::Type& t) {
  if (!t.elements().is_const()) return RowPart::kOther;
  const int64_t all = t.elements().value();
  if (all == rows.count) return RowPart::kOne;
  if (all != rows.count * rows.length) return RowPart::kOther;
  int64_t n = 1;
  for (size_t d = 0; d < t.dims.size() && n < rows.count; ++d) n *= t.dims[d].value();
  return n == rows.count ? RowPart::kAll : RowPart::kOther;
}

bool stays_in_row(const Draft& d, const Rows& rows, std::span<const Instr* const> instrs, const std::unordered_set<const Instr*>& stores) {
  Alignment a(d, rows, stores);
  return std::all_of(instrs.begin(), instrs.end(), [&](const Instr* i) {
    const RowPart part = part_of(rows, i->type);
    return part != RowPart::kOther && a.instr(i, part);
  });
}

}  // namespace weft_engine::compiler
