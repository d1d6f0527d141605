// One instruction at a time: something simpler of the same value. Used by simplify.cc.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace weft_engine::ir {

// The number of which every element of the value is a copy, where that is known.
std::optional<double> scalar_of(const Instr* v);

// Whether its value depends on its operands and on itself alone, and nothing else happens.
bool is_pure(const Instr& i);
// Everything that an instruction's value depends on, operands as `operand` writes them; empty: never equal to another.
std::string key_of(const Instr& i, const std::function<std::string(const Instr*)>& operand);

class Rewriter {
 public:
  explicit Rewriter(Module& m) : module_(m) {}
  // An earlier value that is equal to i, or i, which may have become another instruction; instructions that it then needs
  // go to `before`. Operands have been simplified.
  Instr* simplify(Instr* i, std::vector<std::unique_ptr<Instr>>& before);
  // How often each value is read, if someone has counted.
  void set_uses(const std::unordered_map<const Instr*, int>* uses) { uses_ = uses; }
  // Whether an instruction became another since this was last asked.
  bool take_changed() { return std::exchange(changed_, false); }

 private:
  Instr* known(Instr* i);
  bool folded(Instr* i);
  Instr* reshape(Instr* i);
  Instr* broadcast(Instr* i);
  Instr* transpose(Instr* i);
  Instr* slice(Instr* i);
  Instr* concat(Instr* i);
  Instr* gather(Instr* i, std::vector<std::unique_ptr<Instr>>& before);
  Instr* unary(Instr* i);
  Instr* binary(Instr* i, std::vector<std::unique_ptr<Instr>>& before);
  Instr* select(Instr* i);
  Instr* sum(Instr* i, std::vector<std::unique_ptr<Instr>>& before);
  bool read_once(const Instr* v) const;
  Instr* dot(Instr* i);
  Instr* window(Instr* i, std::vector<std::unique_ptr<Instr>>& before);
  // i as another instruction of its value and type.
  Instr* become(Instr* i, Op op, std::vector<Instr*> operands);
  Instr* add(const Instr* like, Op op, Type type, std::vector<Instr*> operands, std::vector<std::unique_ptr<Instr>>& before);

  Module& module_;
  const std::unordered_map<const Instr*, int>* uses_ = nullptr;
  bool changed_ = false;
};

}  // namespace weft_engine::ir
