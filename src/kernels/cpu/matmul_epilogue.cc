#include "kernels/cpu/matmul_epilogue.h"

#include "kernels/cpu/fused.h"

namespace weft_engine::kernels {

void apply_epilogue(Epilogue e, float alpha, const float* bias, float* x, int64_t rows, int64_t columns, core::ThreadPool& pool) {
  if (e == Epilogue::kNone && !bias) return;
  const bool cheap = e == Epilogue::kNone || e == Epilogue::kRelu || e == Epilogue::kRelu6 || e == Epilogue::kLeakyRelu;
  pool.parallel_for(rows, (cheap ? 0.1 : 0.5) * double(columns) + 5, [&](int64_t begin, int64_t end) {
    WEFT_BEST_ISA(epilogue_rows)(e, alpha, bias, x + begin * columns, end - begin, columns, columns);
  });
}

void apply_epilogue_part(Epilogue e, float alpha, const float* bias, float* x, int64_t columns, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  if (e == Epilogue::kNone && !bias) return;
  WEFT_BEST_ISA(epilogue_rows)(e, alpha, bias ? bias + j0 : nullptr, x + i0 * columns + j0, i1 - i0, j1 - j0, columns);
}

}  // namespace weft_engine::kernels
