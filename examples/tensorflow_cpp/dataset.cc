// A dataset within a graph: a range, batched and repeated, read by an iterator until it ends.
#include <cstdio>
#include <vector>

#include "tensorflow/cc/client/client_session.h"
#include "tensorflow/cc/ops/const_op.h"
#include "tensorflow/cc/ops/dataset_ops.h"
#include "tensorflow/cc/ops/dataset_ops_internal.h"
#include "tensorflow/core/framework/tensor.h"

using namespace tensorflow;       // NOLINT
using namespace tensorflow::ops;  // NOLINT

int main() {
  Scope root = Scope::NewRootScope();
  const DataTypeVector types = {DT_INT64};
  const std::vector<PartialTensorShape> one = {PartialTensorShape({})}, many = {PartialTensorShape({-1})};
  auto start = Const<int64_t>(root, 0), stop = Const<int64_t>(root, 7), step = Const<int64_t>(root, 1);
  auto range = ops::internal::RangeDataset(root, start, stop, step, types, one);
  auto batches = ops::internal::BatchDatasetV2(root, range, Const<int64_t>(root, 3), Const(root, false), types, many);
  auto twice = ops::internal::RepeatDataset(root, batches, Const<int64_t>(root, 2), types, many);
  auto iterator = Iterator(root, "", "", types, many);
  auto make = MakeIterator(root, twice, iterator);
  auto next = IteratorGetNext(root, iterator, types, many);

  ClientSession session(root);
  TF_CHECK_OK(session.Run({}, {}, {make.operation}, nullptr));
  std::vector<Tensor> out;
  while (true) {
    const auto status = session.Run({next[0]}, &out);
    if (errors::IsOutOfRange(status)) break;
    TF_CHECK_OK(status);
    for (int i = 0; i < out[0].NumElements(); ++i) std::printf("%d ", static_cast<int>(out[0].flat<int64_t>()(i)));
    std::printf("\n");
  }
  std::printf("end of sequence\n");
}
