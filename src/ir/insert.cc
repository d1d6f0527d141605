#include "ir/insert.h"

#include <iterator>

namespace weft_engine::ir {

std::unique_ptr<Instr> new_instr(Module& m, Op op, Type type, std::vector<Instr*> operands, std::string node, Region* parent) {
  auto i = std::make_unique<Instr>();
  i->op = op;
  i->id = m.next_id++;
  i->type = std::move(type);
  i->operands = std::move(operands);
  i->node = std::move(node);
  i->parent = parent;
  return i;
}

size_t insert(Region& r, size_t at, Instrs& more) {
  r.instrs.insert(r.instrs.begin() + long(at), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  const size_t n = more.size();
  more.clear();
  return at + n;
}

}  // namespace weft_engine::ir
