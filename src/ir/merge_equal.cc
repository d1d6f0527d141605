// Variables of a loop that start alike and go on alike are one: a counter of steps and one of rows, a state and the list that keeps
// its last value.
#include <map>
#include <unordered_map>

#include "ir/insert.h"
#include "ir/rewrite.h"
#include "ir/simplify.h"

namespace weft_engine::ir {
namespace {

const Instr* behind_views(const Instr* i) {
  while (i->op == Op::kReshape) i = i->operands[0];
  return i;
}

// Equal strings: the same elements in the same order.
std::string start_of(const Instr* v) {
  const std::string elements = v->type.elements().to_string() + ":";
  v = behind_views(v);
  if (v->op == Op::kBroadcast && v->operand(0).rank() == 0) return elements + "all " + std::to_string(v->operand(0).id);
  return elements + std::to_string(v->id);
}

class EqualLoops {
 public:
  explicit EqualLoops(Module& m) : module_(m) {}

  bool run(Region& r) {
    bool any = false;
    for (size_t k = 0; k < r.instrs.size(); ++k) {
      Instr* i = r.instrs[k].get();
      for (auto& part : i->regions) any = run(*part) || any;
      if (i->op == Op::kWhile) any = loop(*i, r) || any;
    }
    return any;
  }

 private:
  // The variables' classes, each by its first; made finer until the body keeps them.
  std::vector<size_t> classes(const Instr& loop) {
    const Region& body = *loop.regions[1];
    const size_t n = loop.operands.size();
    std::vector<std::string> key(n);
    auto by_key = [&] {
      std::map<std::string, size_t> seen;
      std::vector<size_t> first(n);
      for (size_t k = 0; k < n; ++k) first[k] = seen.emplace(key[k], k).first->second;
      return first;
    };
    for (size_t k = 0; k < n; ++k) key[k] = start_of(loop.operands[k]);
    for (std::vector<size_t> first = by_key();;) {
      numbers_.clear();
      names_.clear();
      for (size_t k = 0; k < n; ++k) numbers_[body.parameters[k]] = "p" + std::to_string(first[k]);
      for (size_t k = 0; k < n; ++k) key[k] = std::to_string(first[k]) + "/" + number(body.results[k], body);
      std::vector<size_t> finer = by_key();
      if (finer == first) return first;
      first = std::move(finer);
    }
  }

  std::string number(const Instr* i, const Region& body) {
    i = behind_views(i);
    if (i->parent != &body) return "o" + std::to_string(i->id);
    if (const auto it = numbers_.find(i); it != numbers_.end()) return it->second;
    std::string key = depth_ > 200 ? "" : key_of(*i, [&](const Instr* o) {
      ++depth_;
      std::string s = o->type.to_string() + number(o, body);
      --depth_;
      return s;
    });
    // Short names, or they would grow with the body.
    std::string name = "i" + std::to_string(i->id);
    if (!key.empty()) name = names_.emplace(std::move(key), name).first->second;
    return numbers_[i] = name;
  }

  bool loop(Instr& loop, Region& around) {
    if (loop.operands.size() < 2) return false;
    const std::vector<size_t> first = classes(loop);
    bool any = false;
    for (size_t k = 0; k < first.size(); ++k) {
      if (first[k] == k || !is_read(loop, k, around)) continue;
      for (auto& part : loop.regions) {
        Instr* p = as(part->parameters[first[k]], part->parameters[k]->type, *part);
        replace(*part, part->parameters[k], p);
      }
      any = true;
      // After the loop, too.
      for (size_t n = 0; n < around.instrs.size(); ++n) {
        Instr* g = around.instrs[n].get();
        if (g->op != Op::kGet || g->operands[0] != &loop || g->index != int(k)) continue;
        g->index = int(first[k]);
        if (g->type == loop.results[first[k]]) continue;
        // It becomes a reshape of a get that is in front of it.
        auto other = new_instr(module_, Op::kGet, loop.results[first[k]], {&loop}, g->node, &around);
        other->index = int(first[k]);
        g->op = Op::kReshape;
        g->index = 0;
        g->operands = {other.get()};
        around.instrs.insert(around.instrs.begin() + long(n), std::move(other));
        ++n;
      }
    }
    return any;
  }

  static bool is_read(const Instr& loop, size_t k, const Region& around) {
    for (const auto& part : loop.regions) {
      for (const auto& i : part->instrs) {
        for (const Instr* o : i->operands) {
          if (o == part->parameters[k]) return true;
        }
      }
    }
    for (const auto& g : around.instrs) {
      if (g->op == Op::kGet && g->operands[0] == &loop && g->index == int(k)) return true;
    }
    return false;
  }

  Instr* as(Instr* v, const Type& t, Region& r) {
    if (v->type == t) return v;
    auto p = new_instr(module_, Op::kReshape, t, {v}, v->node, &r);
    Instr* out = p.get();
    r.instrs.insert(r.instrs.begin() + long(r.parameters.size()), std::move(p));
    return out;
  }

  static void replace(Region& r, const Instr* from, Instr* to) {
    for (auto& i : r.instrs) {
      if (i.get() == to) continue;
      for (Instr*& o : i->operands) o = o == from ? to : o;
      for (auto& part : i->regions) replace(*part, from, to);
    }
    for (Instr*& v : r.results) v = v == from ? to : v;
  }

  Module& module_;
  std::unordered_map<const Instr*, std::string> numbers_;
  std::unordered_map<std::string, std::string> names_;
  int depth_ = 0;
};

}  // namespace

bool merge_equal_loops(Module& m) { return EqualLoops(m).run(*m.main); }

}  // namespace weft_engine::ir
