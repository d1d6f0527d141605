// Random numbers by counter.
#include "compiler/llvm/code_emitter_impl.h"

namespace weft_engine::compiler {

// Number n of Philox 4x32-10: word n % 4 of the block whose counter is counter + n / 4 (128 bits).
CodeEmitter::V CodeEmitter::philox(const ir::Instr* i, V n) {
  V key = element(i->operands[0], {});
  V low = element(i->operands[1], {i64(0)}), high = element(i->operands[1], {i64(1)});
  V block = b.CreateLShr(n, 2);
  V sum = b.CreateAdd(low, block);
  V upper = b.CreateAdd(high, b.CreateZExt(b.CreateICmpULT(sum, low), b.getInt64Ty()));
  llvm::Type* word = b.getInt32Ty();
  const auto first = [&](V x) { return b.CreateTrunc(x, word); };
  const auto second = [&](V x) { return b.CreateTrunc(b.CreateLShr(x, 32), word); };
  V c[4] = {first(sum), second(sum), first(upper), second(upper)};
  V k0 = first(key), k1 = second(key);
  for (int round = 0; round < 10; ++round) {
    const auto product = [&](uint32_t m, V x) { return b.CreateMul(b.CreateZExt(x, b.getInt64Ty()), i64(m)); };
    V p0 = product(0xD2511F53u, c[0]), p1 = product(0xCD9E8D57u, c[2]);
    V next[4] = {b.CreateXor(b.CreateXor(second(p1), c[1]), k0), first(p1), b.CreateXor(b.CreateXor(second(p0), c[3]), k1), first(p0)};
    for (int w = 0; w < 4; ++w) c[w] = next[w];
    k0 = b.CreateAdd(k0, b.getInt32(0x9E3779B9u));
    k1 = b.CreateAdd(k1, b.getInt32(0xBB67AE85u));
  }
  V which = b.CreateAnd(n, i64(3));
  V result = c[0];
  for (int w = 1; w < 4; ++w) result = b.CreateSelect(b.CreateICmpEQ(which, i64(w)), c[w], result);
  return result;
}

}  // namespace weft_engine::compiler
