#include <cmath>

#include "kernels/cpu/optimizers.h"
#include "kernels/cpu/isa_begin.h"
#include "kernels/cpu/optimizer_formulas.inc"

void optimize_floats(Optimizer kind, const OptimizerStep<float>& s, const OptimizerRange& r) { run_any(kind, s, r); }
void optimize_doubles(Optimizer kind, const OptimizerStep<double>& s, const OptimizerRange& r) { run_any(kind, s, r); }

#include "kernels/cpu/isa_end.h"
