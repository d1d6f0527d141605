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

}  // namespace weft_engine::kernels
