// The example of docs/adding_an_op.md, compiled as it is printed.
#include <doctest/doctest.h>

#include "core/device.h"
#include "op/registry.h"

#include "docs/adding_an_op.inc"

using namespace weft::op;  // NOLINT

TEST_CASE("the op of the docs registers, infers its shape and counts") {
  Registry registry;
  weft::ops::example(registry);
  const OpSpec* spec = registry.find("CountNonzero");
  REQUIRE(spec);
  REQUIRE_MESSAGE(spec->check().ok(), spec->check().message());
  const Tensor x = Tensor::vector(std::vector<int32_t>{3, 0, -1, 0, 7});
  const DType types[] = {x.dtype()};
  auto node = NodeInfo::make(*spec, "count", {}, types);
  REQUIRE(node.ok());
  auto kernel = make_kernel(registry, *node, "CPU");
  REQUIRE(kernel.ok());
  auto devices = DeviceSet::cpus(1);
  ThreadPool pool(1);
  ResourceManager resources;
  const KernelEnv env{devices->host(), &pool, &resources, &resources, 0};
  const Tensor* inputs[] = {&x};
  Tensor output;
  KernelContext c(*node, env, inputs, std::span<Tensor>(&output, 1));
  REQUIRE((*kernel)->run(c).ok());
  CHECK(output.data<int64_t>()[0] == 3);
  ShapeContext shapes(*node, {PartialShape::vector(5)});
  REQUIRE(spec->infer_shapes(shapes).ok());
  CHECK((shapes.outputs()[0] == PartialShape::scalar()));
}
