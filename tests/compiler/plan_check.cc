#include "tests/compiler/plan_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "compiler/scratch.h"
#include "core/cat.h"
#include "ir/simplify.h"

namespace weft_engine::testing {
namespace {

using compiler::Buffer;
using compiler::Plan;
using compiler::Step;
using core::cat;
using ir::Instr;
using ir::Op;
using Hash = uint64_t;

constexpr int kRounds = 3;

Hash mix(Hash a, Hash b) {
  a ^= b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2);
  return a * 0xff51afd7ed558ccdull ^ (a >> 29);
}
Hash mix(Hash a, const std::string& s) { return mix(a, std::hash<std::string>()(s)); }

// What the instruction itself says, without operands.
Hash own(const Instr& i) {
  Hash h = mix(Hash(i.op) + 17, Hash(i.unary) * 1000003 + Hash(i.binary) * 10007 + Hash(i.compare) * 101 + Hash(i.reduce));
  h = mix(h, i.type.to_string());
  for (int a : i.axes) h = mix(h, Hash(a) + 5);
  for (const auto* dims : {&i.starts, &i.low, &i.high}) {
    for (const ir::Dim& d : *dims) h = mix(h, d.to_string());
  }
  if (i.op == Op::kConstant) h = mix(h, Hash(i.id));
  return h;
}

// What both ways of running share: results of loops and branches by (instruction, number).
Hash result_of(Hash whole, size_t number) { return mix(whole, number + 1); }
size_t branch_of(Hash h, size_t n) { return size_t(h >> 7) % n; }

class Reference {
 public:
  void parameters(const ir::Module& m) {
    for (size_t k = 0; k < m.main->parameters.size(); ++k) values[m.main->parameters[k]] = mix(77, k);
  }

  void region(const ir::Region& r) {
    for (const auto& p : r.instrs) {
      const Instr* i = p.get();
      switch (i->op) {
        case Op::kParameter: break;
        case Op::kReshape: values[i] = values.at(i->operands[0]); break;
        case Op::kGet:
          values[i] =
              i->operand(0).op == Op::kSort ? result_of(values.at(i->operands[0]), size_t(i->index)) : several.at(i->operands[0])[size_t(i->index)];
          break;
        case Op::kWhile: loop(i); break;
        case Op::kIf: {
          const ir::Region& part = *i->regions[branch_of(values.at(i->operands[0]), i->regions.size())];
          region(part);
          auto& out = several[i];
          out.clear();
          for (const Instr* v : part.results) out.push_back(values.at(v));
          break;
        }
        default: {
          Hash h = own(*i);
          for (const Instr* o : i->operands) h = mix(h, values.at(o));
          values[i] = h;
        }
      }
    }
  }

  void loop(const Instr* i) {
    std::vector<Hash> now;
    for (const Instr* o : i->operands) now.push_back(values.at(o));
    for (int round = 0; round <= kRounds; ++round) {
      for (size_t k = 0; k < now.size(); ++k) values[i->regions[0]->parameters[k]] = values[i->regions[1]->parameters[k]] = now[k];
      region(*i->regions[0]);
      if (needed.contains(i)) conditions.push_back(values.at(i->regions[0]->results[0]));
      if (round == kRounds) break;
      region(*i->regions[1]);
      for (size_t k = 0; k < now.size(); ++k) now[k] = values.at(i->regions[1]->results[k]);
    }
    several[i] = now;
  }

  std::unordered_set<const Instr*> needed;
  std::unordered_map<const Instr*, Hash> values;
  std::unordered_map<const Instr*, std::vector<Hash>> several;
  std::vector<Hash> conditions;
};

class Runner {
 public:
  explicit Runner(const Plan& p) : plan_(p), symbols_(p.module->symbols.size(), 0) {
    for (size_t k = 0; k < symbols_.size(); ++k) symbols_[k] = int64_t(k) + 2;
  }

  std::string run() {
    const ir::Module& m = *plan_.module;
    if (!places()) return error_;
    Reference want;
    want.parameters(m);
    want.needed = ir::needed(m);
    want.region(*m.main);
    for (size_t k = 0; k < m.main->parameters.size(); ++k) {
      const int b = plan_.buffer_of(m.main->parameters[k]);
      if (b >= 0) memory_[b] = mix(77, k);
    }
    for (size_t b = 0; b < plan_.buffers.size(); ++b) {
      if (plan_.buffers[b].kind == Buffer::Kind::kConstant) memory_[int(b)] = own(*plan_.constants[size_t(plan_.buffers[b].index)]);
    }
    steps(plan_.steps);
    if (!error_.empty()) return error_;
    std::sort(conditions_.begin(), conditions_.end());  // loops may change places
    std::sort(want.conditions.begin(), want.conditions.end());
    if (conditions_ != want.conditions) return "conditions of loops saw other values";
    for (size_t k = 0; k < m.results.size(); ++k) {
      const bool state = m.results[k].state >= 0;
      const int b = state ? plan_.buffer_of(m.main->parameters[size_t(m.results[k].state)]) : result_buffer(int(k));
      if (b < 0) return cat("result ", k, " has no buffer");
      if (!memory_.contains(b)) return cat("result ", k, " was lost");
      if (memory_[b] != want.values.at(m.main->results[k])) return cat("result ", k, " holds another value");
    }
    return "";
  }

 private:
  int64_t number(const ir::Dim& d) const { return d.evaluate(symbols_); }

  bool places() {
    for (size_t k = 0; k < plan_.buffers.size(); ++k) {
      const Buffer& b = plan_.buffers[k];
      if (b.kind != Buffer::Kind::kArena) continue;
      const int64_t at = number(b.offset), bytes = number(b.bytes);
      if (at % 64 != 0 || at < 0 || bytes < 0) return fail(cat("buffer ", k, " lies at ", at));
      if (at + bytes > number(plan_.arena_bytes)) return fail(cat("buffer ", k, " lies outside of the arena"));
    }
    return true;
  }

  bool fail(std::string text) {
    if (error_.empty()) error_ = std::move(text);
    return false;
  }

  int result_buffer(int k) const {
    for (size_t b = 0; b < plan_.buffers.size(); ++b) {
      if (plan_.buffers[b].kind == Buffer::Kind::kResult && plan_.buffers[b].index == k) return int(b);
    }
    return -1;
  }

  bool overlap(int a, int b) const {
    if (a == b) return true;
    const Buffer &x = plan_.buffers[size_t(a)], &y = plan_.buffers[size_t(b)];
    if (x.kind != y.kind) return false;
    if (x.kind != Buffer::Kind::kArena) return x.index == y.index;
    const int64_t p = number(x.offset), q = number(y.offset);
    return p < q + number(y.bytes) && q < p + number(x.bytes);
  }

  void write(int b, Hash h) {
    const Buffer& to = plan_.buffers[size_t(b)];
    if (to.kind == Buffer::Kind::kConstant) fail(cat("a constant is written: ", b));
    if (to.kind == Buffer::Kind::kParameter) {
      bool state = false;
      for (const auto& r : plan_.module->results) state = state || r.state == to.index;
      if (!state) fail(cat("parameter ", to.index, " is written"));
    }
    std::erase_if(memory_, [&](const auto& m) { return overlap(m.first, b); });
    memory_[b] = h;
  }

  Hash read(int b, const Instr* i) {
    reads_.insert(b);
    const auto it = memory_.find(b);
    if (it == memory_.end()) {
      fail(cat("%", i->id, " is read from buffer ", b, ", which does not hold it any more"));
      return 0;
    }
    return it->second;
  }

  // `same`: at the index that a loop computes.
  Hash value(const Instr* i, bool same = false) {
    if (const auto it = in_rows_ ? loop_.find(i) : loop_.end(); it != loop_.end()) return it->second;
    const int b = plan_.buffer_of(i);
    if (b >= 0) {
      if (!same) moved_.insert(b);
      return read(b, i);
    }
    if (i->op == Op::kReshape) return value(i->operands[0], same);
    if (ir::is_elementwise(i->op) || i->op == Op::kBroadcast || i->op == Op::kTranspose || i->op == Op::kSlice || i->op == Op::kReverse ||
        i->op == Op::kDynamicSlice || i->op == Op::kIota || i->op == Op::kSizes || (i->op == Op::kConstant && i->type.elements().is(1))) {
      return computed(i, same);
    }
    fail(cat("%", i->id, " (", name_of(i->op), ") is read but has no buffer"));
    return 0;
  }

  Hash computed(const Instr* i, bool same) {
    Hash h = own(*i);
    if (i->op == Op::kReshape) return value(i->operands[0], same);  // in the same order
    for (const Instr* o : i->operands) {
      const bool at = same && ir::is_elementwise(i->op);
      const auto it = at ? loop_.find(o) : loop_.end();
      h = mix(h, it != loop_.end() ? it->second : value(o, at));
    }
    return h;
  }

  void begin() {
    reads_.clear();
    moved_.clear();
    loop_.clear();
  }

  void steps(const std::vector<Step>& all) {
    for (const Step& s : all) {
      if (!error_.empty()) return;
      step(s);
    }
  }

  void step(const Step& s) {
    begin();
    switch (s.kind) {
      case Step::Kind::kLoop: loop(s); break;
      case Step::Kind::kInstr: instr(s.instrs[0]); break;
      case Step::Kind::kRows: rows(s); break;
      case Step::Kind::kCopy: {
        Hash h = s.copy_from_buffer >= 0 ? read(s.copy_from_buffer, s.copy_from) : value(s.copy_from);
        for (int b : reads_) {
          if (overlap(b, s.copy_to)) fail(cat("a copy onto itself: ", b));
        }
        write(s.copy_to, h);
        break;
      }
      case Step::Kind::kWhile:
        for (int round = 0;; ++round) {
          steps(s.regions[0]);
          begin();
          conditions_.push_back(value(s.instrs[0]->regions[0]->results[0]));
          if (round == kRounds || !error_.empty()) break;
          steps(s.regions[1]);
        }
        break;
      case Step::Kind::kIf: steps(s.regions[branch_of(value(s.instrs[0]->operands[0]), s.regions.size())]); break;
    }
  }

  void loop(const Step& s) {
    std::vector<std::pair<int, Hash>> out;
    for (const Instr* i : s.instrs) {
      if (!(i->type.dims == s.instrs[0]->type.dims)) fail(cat("%", i->id, " has other sizes than its loop"));
      if (s.instrs.size() > 1 && (i->op == Op::kPad || i->op == Op::kConcat || i->op == Op::kGather)) fail(cat("%", i->id, " is not alone"));
      const Hash h = computed(i, true);
      loop_[i] = h;
      if (plan_.buffer_of(i) >= 0) out.emplace_back(plan_.buffer_of(i), h);
    }
    if (out.empty()) fail("a loop that stores nothing");
    for (const auto& [b, h] : out) {
      for (int r : reads_) {
        if (!overlap(r, b)) continue;
        if (r != b || moved_.contains(r)) fail(cat("buffer ", b, " is written while ", r, " is read at other places"));
      }
      for (const auto& [c, g] : out) {
        if (c != b && overlap(b, c)) fail(cat("buffers ", b, " and ", c, " are written at once"));
      }
    }
    for (const auto& [b, h] : out) write(b, h);
  }

  // As a loop; what the step has computed is read from where it is, too, and reductions at their operands' indices.
  void rows(const Step& s) {
    in_rows_ = true;
    int64_t all = 0;
    for (const Instr* i : s.instrs) {
      if (i->op == Op::kReduce) all = number(i->operand(0).type.elements());
    }
    std::vector<std::pair<int, Hash>> out;
    for (const Instr* i : s.instrs) {
      const bool whole = number(i->type.elements()) == all;
      Hash h = i->op == Op::kReduce ? mix(own(*i), value(i->operands[0], true)) : computed(i, whole);
      loop_[i] = h;
      const int b = plan_.buffer_of(i);
      if (b < 0) continue;
      if (!whole) moved_.insert(b);
      out.emplace_back(b, h);
    }
    if (out.empty()) fail("rows of which nothing is stored");
    for (const auto& [b, h] : out) {
      for (int r : reads_) {
        if (overlap(r, b) && (r != b || moved_.contains(r))) fail(cat("buffer ", b, " is written while ", r, " is read at other places"));
      }
      for (const auto& [c, g] : out) {
        if (c != b && overlap(b, c)) fail(cat("buffers ", b, " and ", c, " are written at once"));
      }
    }
    for (const auto& [b, h] : out) write(b, h);
    in_rows_ = false;
  }

  void instr(const Instr* i) {
    Hash h = own(*i);
    std::set<int> first;
    for (size_t k = 0; k < i->operands.size(); ++k) {
      const bool pointer = i->op == Op::kDot || i->op == Op::kConv || i->op == Op::kConvFilterGrad || i->op == Op::kWindow ||
                           i->op == Op::kMaxPoolGrad || i->op == Op::kSort || i->op == Op::kScatter;
      if (pointer && plan_.buffer_of(i->operands[k]) < 0) fail(cat("operand ", k, " of %", i->id, " has no buffer"));
      h = mix(h, value(i->operands[k]));
      if (k == 0 && (i->op == Op::kDynamicUpdate || i->op == Op::kScatter)) {
        first = reads_;
        reads_.clear();
      }
    }
    if (i->op == Op::kCheck) return;
    std::vector<int> to;
    if (i->op == Op::kSort) {
      to = plan_.results.at(i);
    } else {
      to = {plan_.buffer_of(i)};
      if (to[0] < 0) fail(cat("%", i->id, " has no buffer"));
    }
    if (!compiler::scratch_bytes(*i).is(0)) {
      if (!plan_.scratch.contains(i)) fail(cat("%", i->id, " has no scratch memory"));
      else to.push_back(plan_.scratch.at(i));
    }
    if (!error_.empty()) return;
    for (size_t k = 0; k < to.size(); ++k) {
      if (to[k] < 0) continue;
      for (int r : reads_) {
        if (overlap(r, to[k])) fail(cat("%", i->id, " overwrites its operand in buffer ", r));
      }
      for (int r : first) {
        if (r != to[0] && overlap(r, to[k])) fail(cat("%", i->id, " overwrites part of its operand in buffer ", r));
      }
      for (size_t o = 0; o < k; ++o) {
        if (to[o] >= 0 && overlap(to[o], to[k])) fail(cat("%", i->id, " writes twice to one place"));
      }
      write(to[k], i->op == Op::kSort ? result_of(h, k) : k == 0 ? h : mix(h, 99));
    }
  }

  const Plan& plan_;
  std::vector<int64_t> symbols_;
  std::map<int, Hash> memory_;  // what each buffer holds; nothing if another has been written over it
  std::unordered_map<const Instr*, Hash> loop_;
  std::set<int> reads_, moved_;  // of the current step
  bool in_rows_ = false;
  std::vector<Hash> conditions_;
  std::string error_;
};

}  // namespace

std::string check_plan(const compiler::Plan& plan) { return Runner(plan).run(); }

}  // namespace weft_engine::testing
