#include <cmath>
#include <weft/op.h>

// x / (1 + |x|) with all that the engine can know of it: also the compiler, which fuses it.
static const weft::Op soft_clamp = weft::define_op("SoftClamp")
                                       .input("x: T")
                                       .output("y: T")
                                       .attr("T: {float, double}")
                                       .doc("x / (1 + |x|): a clamp to (-1, 1) without corners.")
                                       .same_shape()
                                       .gradient([](weft::op::Rule& r) { r.result(0, r.dy() / square(1.0 + abs(r.x()))); })
                                       .lowering([](weft::op::Rule& r) { r.result(0, r.x() / (1.0 + abs(r.x()))); })
                                       .kernel<float, double>("T", [](weft::op::Run& run, auto type) {
                                         using T = decltype(type);
                                         const auto x = run.input<T>(0);
                                         const auto y = run.output<T>(0, x.shape);
                                         for (int64_t i = 0; i < x.size; ++i) y[i] = x[i] / (1 + std::abs(x[i]));
                                       });
