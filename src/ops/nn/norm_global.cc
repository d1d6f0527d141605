// BatchNormWithGlobalNormalization and its gradient: batch normalisation of version 0, with given mean and variance.
#include <cmath>

#include "op/emit.h"
#include "op/gradient.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

constexpr const char* kNumbers =
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, "
    "uint32, uint64}";

// Input 0 is [.., depth], the others are vectors; `names` are those of TensorFlow's messages.
Status check(const KernelContext& c, std::initializer_list<const char*> names) {
  int i = 0;
  for (const char* name : names) {
    const int rank = i == 0 || name == std::string_view("out_backprop") ? 4 : 1;
    const Tensor& t = c.input(i++);
    if (t.rank() != rank) return invalid_argument(name, " must be ", rank, "-dimensional", t.shape());
  }
  const int64_t depth = c.input(1).dim(0);
  for (i = 0; i < c.num_inputs(); ++i) {
    const Shape& s = c.input(i).shape();
    if (s.dim(s.rank() - 1) != depth) return invalid_argument("input ", i, " must have the depth of the mean (", depth, "), got shape ", s);
  }
  return {};
}

Status run_forward(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check(c, {"input", "mean", "var", "beta", "gamma"}));
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const int64_t depth = c.input(1).dim(0), rows = depth ? in.num_elements() / depth : 0;
  const bool scale = c.attr<bool>("scale_after_normalization");
  return dispatch<half, float, double>(in.dtype(), [&]<class T>(Tag<T>) {
    const T epsilon = T(c.attr<float>("variance_epsilon"));
    std::vector<T> factor;
    for (int64_t j = 0; j < depth; ++j) {
      const T root = T(T(1) / T(std::sqrt(Wide<T>(T(c.input(2).data<T>()[j] + epsilon)))));
      factor.push_back(scale ? T(root * c.input(4).data<T>()[j]) : root);
    }
    const T *x = in.data<T>(), *mean = c.input(1).data<T>(), *beta = c.input(3).data<T>();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < depth; ++j) out->data<T>()[i * depth + j] = T(T(T(x[i * depth + j] - mean[j]) * factor[size_t(j)]) + beta[j]);
    }
    return Status();
  });
}

Status run_backward(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check(c, {"input", "mean", "var", "gamma", "out_backprop"}));
  const Tensor &in = c.input(0), &dout = c.input(4);
  if (dout.shape() != in.shape()) return invalid_argument("out_backprop must have the shape of the input: ", dout.shape(), " vs. ", in.shape());
  const int64_t depth = c.input(1).dim(0), rows = depth ? in.num_elements() / depth : 0;
  const bool scale = c.attr<bool>("scale_after_normalization");
  WEFT_ASSIGN(Tensor* dx, c.allocate(0, in.shape()));
  for (int i = 1; i < 5; ++i) WEFT_RETURN_IF_ERROR(c.allocate(i, Shape({depth})).status());
  return dispatch<half, float, double>(in.dtype(), [&]<class T>(Tag<T>) {
    using W = Wide<T>;
    const W epsilon = W(T(c.attr<float>("variance_epsilon")));
    const T *x = in.data<T>(), *dy = dout.data<T>(), *mean = c.input(1).data<T>(), *variance = c.input(2).data<T>(), *gamma = c.input(3).data<T>();
    T *dm = c.output(1).data<T>(), *dv = c.output(2).data<T>(), *db = c.output(3).data<T>(), *dg = c.output(4).data<T>();
    for (int64_t j = 0; j < depth; ++j) {
      W sum = 0, weighted = 0;
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t at = i * depth + j;
        sum += W(dy[at]);
        weighted += W(dy[at]) * (W(x[at]) - W(mean[j]));
      }
      const W spread = W(variance[j]) + epsilon, root = W(1) / std::sqrt(spread), factor = scale ? root * W(gamma[j]) : root;
      for (int64_t i = 0; i < rows; ++i) dx->data<T>()[i * depth + j] = T(W(dy[i * depth + j]) * factor);
      db[j] = T(sum);
      dm[j] = T(-sum * factor);
      dg[j] = T(scale ? weighted * root : W(0));
      dv[j] = T(weighted * (factor * W(-0.5) / spread));
    }
    return Status();
  });
}

Status forward_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 4));
  int64_t depth = in.dim(3);
  for (int i = 1; i < 5; ++i) {
    WEFT_ASSIGN(PartialShape v, c.with_rank(i, 1));
    WEFT_ASSIGN(depth, ShapeContext::merge_dim(depth, v.dim(0)));
  }
  in.set_dim(3, depth);
  c.output(0, std::move(in));
  return {};
}

Status backward_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 4));
  WEFT_ASSIGN(PartialShape dout, c.with_rank(4, 4));
  WEFT_ASSIGN(in, in.merge_with(dout));
  int64_t depth = in.dim(3);
  for (int i = 1; i < 4; ++i) {
    WEFT_ASSIGN(PartialShape v, c.with_rank(i, 1));
    WEFT_ASSIGN(depth, ShapeContext::merge_dim(depth, v.dim(0)));
  }
  in.set_dim(3, depth);
  c.output(0, std::move(in));
  for (int i = 1; i < 5; ++i) c.output(i, PartialShape::vector(depth));
  return {};
}

Grads forward_grad(const GradContext& g) {
  return g.emitter().apply("BatchNormWithGlobalNormalizationGrad", {g.x(0), g.x(1), g.x(2), g.x(4), g.dy()},
                           g.attrs({"variance_epsilon", "scale_after_normalization"}));
}

}  // namespace

void norm_global(Registry& r) {
  r.add("BatchNormWithGlobalNormalization")
      .doc("Batch normalisation of images with given mean and variance.")
      .in("t: T")
      .in("m: T")
      .in("v: T")
      .in("beta: T")
      .in("gamma: T")
      .out("result: T")
      .attr(kNumbers)
      .attr("variance_epsilon: float")
      .attr("scale_after_normalization: bool")
      .deprecated(9, "Use tf.nn.batch_normalization()")
      .shape(forward_shape)
      .grad(forward_grad)
      .cpu(run_forward, types<half, float, double>("T"));

  r.add("BatchNormWithGlobalNormalizationGrad")
      .doc("Gradients of BatchNormWithGlobalNormalization.")
      .in("t: T")
      .in("m: T")
      .in("v: T")
      .in("gamma: T")
      .in("backprop: T")
      .out("dx: T")
      .out("dm: T")
      .out("dv: T")
      .out("db: T")
      .out("dg: T")
      .attr(kNumbers)
      .attr("variance_epsilon: float")
      .attr("scale_after_normalization: bool")
      .deprecated(9, "Use tf.nn.batch_normalization()")
      .shape(backward_shape)
      .cpu(run_backward, types<half, float, double>("T"));
}

}  // namespace weft_engine::ops
