// Sums of products over labelled dimensions: each operand is brought into the form of a stack of
// matrices, multiplied, and the result brought into the order of the output.
#include "ops/linalg/einsum_equation.h"

#include <algorithm>
#include <map>

#include "kernels/cpu/batch_matmul.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/strided_copy.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

bool has(const std::vector<int>& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

// The output's labels with the ellipsis written out. A label that no input has stands for nothing.
Result<std::vector<int>> output_labels(const EinsumEquation& e, const std::map<int, int64_t>& sizes) {
  int broadcast = 0;
  for (const auto& [label, size] : sizes) broadcast += label >= kBroadcastLabel;
  if (broadcast && !has(e.output, kEllipsis)) {
    return invalid_argument("Output contains ", broadcast, " broadcasting dimension(s) but no ellipsis (...) was found in the output subscripts.");
  }
  std::vector<int> out;
  for (int label : e.output) {
    if (label == kEllipsis) {
      for (int i = broadcast; i > 0; --i) out.push_back(kBroadcastLabel + i);
    } else if (sizes.count(label)) {
      out.push_back(label);
    }
  }
  return out;
}

// Takes a dimension's size into the table; unknown sizes are -1.
Status merge_size(std::map<int, int64_t>& sizes, int label, int64_t size, int axis, const PartialShape& shape) {
  auto [at, fresh] = sizes.emplace(label, size);
  if (fresh || at->second == size || size < 0) return {};
  if (at->second < 0 || (label >= kBroadcastLabel && at->second == 1)) {
    at->second = size;
    return {};
  }
  if (label >= kBroadcastLabel) {
    if (size == 1) return {};
    return invalid_argument("Expected dimension ", at->second, " at axis ", axis, " of the input shaped ", shape.to_string(), " but got dimension ",
                            size);
  }
  return invalid_argument("Expected dimension ", at->second, " at axis ", axis, " of the input shaped ", shape.to_string(), " but got dimension ",
                          size);
}

Result<EinsumEquation> equation_of(const std::string& text, int inputs) {
  WEFT_ASSIGN(EinsumEquation e, EinsumEquation::parse(text));
  if (int(e.inputs.size()) != inputs) return invalid_argument("Expected ", e.inputs.size(), " inputs but got: ", inputs);
  return e;
}

Status einsum_shape(ShapeContext& c) {
  WEFT_ASSIGN(EinsumEquation e, equation_of(c.attr<std::string>("equation"), c.num_inputs()));
  std::map<int, int64_t> sizes;
  bool unknown_rank = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const PartialShape& s = c.input(i);
    const std::vector<int>& labels = e.inputs[size_t(i)];
    if (!s.has_rank() && has(labels, kEllipsis)) {
      unknown_rank = true;
      continue;
    }
    WEFT_ASSIGN(std::vector<int> dims, label_dims(labels, s.has_rank() ? s.rank() : int(labels.size()), i));
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t size = s.has_rank() ? s.dim(int(d)) : kUnknownDim;
      // An unknown dimension under the ellipsis may be anything that its partner is not.
      if (dims[d] >= kBroadcastLabel && size < 0 && !sizes.count(dims[d])) sizes[dims[d]] = 1;
      if (dims[d] >= kBroadcastLabel && size < 0 && sizes[dims[d]] <= 1) {
        sizes[dims[d]] = kUnknownDim;
        continue;
      }
      WEFT_RETURN_IF_ERROR(merge_size(sizes, dims[d], size, int(d), s));
    }
  }
  if (unknown_rank) return {};
  WEFT_ASSIGN(std::vector<int> out, output_labels(e, sizes));
  std::vector<int64_t> dims;
  for (int label : out) dims.push_back(sizes[label]);
  c.output(0, PartialShape(std::move(dims)));
  return {};
}

// ---- kernel

// A dense tensor whose dimension i is called labels[i]; no label twice.
struct Operand {
  Tensor tensor;
  std::vector<int> labels;
  int64_t size(int label) const {
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == label) return tensor.dim(int(i));
    }
    return 1;
  }
  int64_t size(const std::vector<int>& group) const {
    int64_t n = 1;
    for (int label : group) n *= size(label);
    return n;
  }
};

// For each label of `order`, how far apart its elements are in a tensor whose dimensions have `labels`:
// a label that is at several dimensions walks the diagonal.
std::vector<int64_t> strides_by_label(const Shape& shape, const std::vector<int>& labels, const std::vector<int>& order) {
  std::vector<int64_t> out(order.size(), 0);
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i] == labels[size_t(d)]) out[i] += stride;
    }
    stride *= shape.dim(d);
  }
  return out;
}

// The operand with its dimensions in another order (all of its labels, each once).
Result<Operand> arranged(KernelContext& c, const Tensor& t, const std::vector<int>& labels, const std::vector<int>& order,
                         const std::map<int, int64_t>& own) {
  if (labels == order) return Operand{t, labels};
  Shape shape;
  for (int label : order) shape.add_dim(own.at(label));
  WEFT_ASSIGN(Tensor out, c.temp(t.dtype(), shape));
  const std::vector<int64_t> from = strides_by_label(t.shape(), labels, order), to = strides_by_label(shape, order, order);
  kernels::CopyPlan plan;
  for (size_t i = 0; i < order.size(); ++i) plan.add(shape.dim(int(i)), from[i], to[i]);
  if (shape.num_elements() > 0) kernels::strided_copy(c.pool(), t.dtype(), t.raw(), out.raw(), plan);
  return Operand{out, order};
}

// Input i with diagonals taken and the dimensions summed that nobody else names.
Result<Operand> reduced_operand(KernelContext& c, const Tensor& t, const std::vector<int>& labels, const std::vector<int>& needed) {
  std::vector<int> kept, summed;
  std::map<int, int64_t> own;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!own.emplace(labels[i], t.dim(int(i))).second) continue;
    (has(needed, labels[i]) ? kept : summed).push_back(labels[i]);
  }
  if (summed.empty()) return arranged(c, t, labels, kept, own);
  std::vector<int> order = kept;
  order.insert(order.end(), summed.begin(), summed.end());
  WEFT_ASSIGN(Operand all, arranged(c, t, labels, order, own));
  Shape shape;
  for (int label : kept) shape.add_dim(own[label]);
  WEFT_ASSIGN(Tensor out, c.temp(t.dtype(), shape));
  const int64_t dims[] = {all.size(kept), all.size(summed)};
  const bool gone[] = {false, true};
  WEFT_RETURN_IF_ERROR(kernels::reduce(kernels::ReduceOp::kSum, t.dtype(), all.tensor.raw(), dims, gone, out.raw(), c.pool()));
  return Operand{out, kept};
}

std::vector<int> joined(const std::vector<int>& a, const std::vector<int>& b, const std::vector<int>& d = {}) {
  std::vector<int> out = a;
  out.insert(out.end(), b.begin(), b.end());
  out.insert(out.end(), d.begin(), d.end());
  return out;
}

// A stack of matrices: [batch, rows, columns], or transposed where the operand is so already.
struct Stack {
  Operand operand;
  bool transposed = false;
};

Result<Stack> stacked(KernelContext& c, const Operand& x, const std::vector<int>& batch, const std::vector<int>& rows,
                      const std::vector<int>& columns) {
  std::vector<int> own_batch;  // a label under an ellipsis may be missing here
  for (int label : batch) {
    if (has(x.labels, label)) own_batch.push_back(label);
  }
  if (x.labels == joined(own_batch, columns, rows)) return Stack{x, !rows.empty() && !columns.empty()};
  std::map<int, int64_t> own;
  for (int label : x.labels) own[label] = x.size(label);
  WEFT_ASSIGN(Operand arranged_operand, arranged(c, x.tensor, x.labels, joined(own_batch, rows, columns), own));
  return Stack{arranged_operand, false};
}

// For each product, the matrix of one side: dimensions of size 1 (or missing) repeat.
std::vector<int64_t> batch_index(const Operand& x, const std::vector<int>& batch, const std::vector<int64_t>& sizes, int64_t total) {
  std::vector<int64_t> strides(batch.size(), 0), out(static_cast<size_t>(total));
  int64_t stride = 1;
  for (size_t i = batch.size(); i-- > 0;) {
    const int64_t own = x.size(batch[i]);
    if (own > 1) strides[i] = stride;
    stride *= own;
  }
  for (int64_t p = 0; p < total; ++p) {
    int64_t rest = p, at = 0;
    for (size_t i = batch.size(); i-- > 0; rest /= sizes[i]) at += rest % sizes[i] * strides[i];
    out[size_t(p)] = at;
  }
  return out;
}

Result<Operand> contracted(KernelContext& c, const Operand& a, const Operand& b, const std::vector<int>& output) {
  std::vector<int> batch, inner, rows, columns;
  for (int label : output) {
    if (has(batch, label) || has(rows, label) || has(columns, label)) continue;
    if (label >= kBroadcastLabel || (has(a.labels, label) && has(b.labels, label))) batch.push_back(label);
  }
  for (int label : a.labels) {
    if (has(batch, label)) continue;
    (has(b.labels, label) ? inner : rows).push_back(label);
  }
  for (int label : b.labels) {
    if (!has(batch, label) && !has(inner, label)) columns.push_back(label);
  }
  WEFT_ASSIGN(Stack x, stacked(c, a, batch, rows, inner));
  WEFT_ASSIGN(Stack y, stacked(c, b, batch, inner, columns));
  std::vector<int64_t> sizes;
  Shape shape;
  bool same = true;
  int64_t total = 1;
  for (int label : batch) {
    const int64_t p = a.size(label), q = b.size(label);
    if (p != q && p != 1 && q != 1) {
      return invalid_argument("In[0] and In[1] must have compatible batch dimensions: ", a.tensor.shape(), " vs. ", b.tensor.shape());
    }
    same = same && p == q;
    sizes.push_back(p == 1 ? q : p);
    shape.add_dim(sizes.back());
    total = multiply_without_overflow(total, sizes.back());
    if (total < 0) return invalid_argument("Einsum: too many batches");
  }
  for (int label : rows) shape.add_dim(a.size(label));
  for (int label : columns) shape.add_dim(b.size(label));
  WEFT_ASSIGN(Tensor out, c.temp(a.tensor.dtype(), shape));
  kernels::BatchMatMulArgs args{
      .transa = x.transposed, .transb = y.transposed, .m = a.size(rows), .n = b.size(columns), .k = a.size(inner), .batches = total};
  args.a_count = a.size(batch);
  args.b_count = b.size(batch);
  if (args.k == 0 || out.num_elements() == 0) {
    if (out.num_elements()) kernels::fill_zero(c.pool(), out.dtype(), out.raw(), out.num_elements());
    return Operand{out, joined(batch, rows, columns)};
  }
  std::vector<int64_t> a_index, b_index;
  if (!same) {
    a_index = batch_index(a, batch, sizes, total);
    b_index = batch_index(b, batch, sizes, total);
    args.a_index = a_index;
    args.b_index = b_index;
  }
  WEFT_RETURN_IF_ERROR(kernels::batch_matmul(a.tensor.dtype(), args, x.operand.tensor.raw(), y.operand.tensor.raw(), out.raw(), c.pool()));
  return Operand{out, joined(batch, rows, columns)};
}

// The result in the order of the output; a label that is twice there fills a diagonal.
Status write_output(KernelContext& c, const Operand& x, const std::vector<int>& output) {
  if (x.labels == output) {
    c.set_output(0, x.tensor);
    return {};
  }
  Shape shape;
  for (int label : output) shape.add_dim(x.size(label));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (shape.num_elements() == 0) return {};
  if (x.labels.size() != output.size()) kernels::fill_zero(c.pool(), out->dtype(), out->raw(), out->num_elements());
  const std::vector<int64_t> from = strides_by_label(x.tensor.shape(), x.labels, x.labels), to = strides_by_label(shape, output, x.labels);
  kernels::CopyPlan plan;
  // Outermost first as the target is laid out, so that writing is as even as it can be.
  std::vector<size_t> order;
  for (int label : output) {
    const size_t i = size_t(std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin());
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  }
  for (size_t i : order) plan.add(x.tensor.dim(int(i)), from[i], to[i]);
  kernels::strided_copy(c.pool(), out->dtype(), x.tensor.raw(), out->raw(), plan);
  return {};
}

struct Einsum {
  static Result<Einsum> make(const NodeInfo& node) {
    WEFT_ASSIGN(EinsumEquation e, EinsumEquation::parse(node.attr<std::string>("equation")));
    return Einsum{std::move(e)};
  }
  Status run(KernelContext& c) const {
    if (int(equation.inputs.size()) != c.num_inputs())
      return invalid_argument("Expected ", equation.inputs.size(), " inputs but got: ", c.num_inputs());
    std::map<int, int64_t> sizes;
    std::vector<std::vector<int>> labels;
    for (int i = 0; i < c.num_inputs(); ++i) {
      WEFT_ASSIGN(std::vector<int> dims, label_dims(equation.inputs[size_t(i)], c.input(i).rank(), i));
      for (size_t d = 0; d < dims.size(); ++d) {
        // Sizes under the ellipsis are compared when the batches meet.
        if (dims[d] >= kBroadcastLabel) sizes[dims[d]] = std::max(sizes[dims[d]], c.input(i).dim(int(d)));
        else WEFT_RETURN_IF_ERROR(merge_size(sizes, dims[d], c.input(i).dim(int(d)), int(d), c.input(i).shape()));
      }
      labels.push_back(std::move(dims));
    }
    WEFT_ASSIGN(std::vector<int> output, output_labels(equation, sizes));
    auto operand = [&](int i) {
      std::vector<int> needed = output;
      for (int j = 0; j < c.num_inputs(); ++j) {
        if (j != i) needed.insert(needed.end(), labels[size_t(j)].begin(), labels[size_t(j)].end());
      }
      return reduced_operand(c, c.input(i), labels[size_t(i)], needed);
    };
    WEFT_ASSIGN(Operand result, operand(0));
    if (c.num_inputs() == 2) {
      WEFT_ASSIGN(Operand second, operand(1));
      WEFT_ASSIGN(result, contracted(c, result, second, output));
    }
    return write_output(c, result, output);
  }
  EinsumEquation equation;
};

// ---- gradients -----------------------------------------------------------------------------------------

constexpr std::string_view kDots = "...";

bool names(std::string_view subscripts, char label) { return label != '.' && subscripts.find(label) != std::string_view::npos; }

Value emit_einsum(Emitter& e, std::span<const Value> inputs, std::string equation) {
  auto out = e.apply("Einsum", inputs, {{"equation", std::move(equation)}});
  return out.empty() ? Value() : out[0];
}

// Puts back labels of x that were summed away: `grad` has the subscripts `from`. They come in front, repeated,
// and go to their places.
Value put_back(const Value& grad, const std::string& from, const Value& x, const std::string& subscripts, const std::string& summed) {
  if (!grad.valid()) return {};
  Emitter& e = grad.emitter();
  const size_t dots = subscripts.find(kDots);
  std::vector<Value> sizes, ones;
  for (char label : summed) {
    const size_t at = subscripts.find(label);
    // Behind the ellipsis dimensions are counted from the end.
    const int axis = at < dots ? int(at) : int(at) - int(subscripts.size());
    sizes.push_back(expand_dims(element(shape_of(x), axis), 0));
    ones.push_back(ints(e, {1}));
  }
  sizes.push_back(shape_of(grad));
  ones.push_back(shape_of(grad));
  const Value repeated = binary("BroadcastTo", reshape(grad, concat(ones, 0)), concat(sizes, 0));
  const Value parts[] = {repeated};
  return emit_einsum(e, parts, cat(summed, from, "->", subscripts));
}

// The labels of `subscripts` that none of the others names, each once.
std::string only_here(const std::string& subscripts, std::string_view others) {
  std::string out;
  for (char label : subscripts) {
    if (label != '.' && !names(others, label) && !names(out, label)) out += label;
  }
  return out;
}

std::string without(const std::string& subscripts, const std::string& labels) {
  std::string out;
  for (char label : subscripts) {
    if (!names(labels, label)) out += label;
  }
  return out;
}

// The dimensions of x under the ellipsis, as a vector.
Value under_dots(const Value& x, const std::string& subscripts) {
  if (!x.valid()) return {};
  Emitter& e = x.emitter();
  const int begin = int(subscripts.find(kDots)), after = int(subscripts.size()) - begin - int(kDots.size());
  return e.one("StridedSlice", {shape_of(x), ints(e, {begin}), ints(e, {-after}), ints(e, {1})}, {{"end_mask", int64_t(after == 0)}});
}

Grads einsum_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const std::string& equation = g.attr<std::string>("equation");
  const size_t arrow = equation.find("->"), comma = equation.find(',');
  const std::string output = equation.substr(arrow + 2);
  if (g.num_inputs() == 1) {
    const std::string input = equation.substr(0, arrow), summed = only_here(input, output);
    if (!summed.empty()) return {put_back(g.dy(), output, g.x(), input, summed)};
    const Value parts[] = {g.dy()};
    return {emit_einsum(e, parts, cat(output, "->", input))};
  }
  std::string subscripts[] = {equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1)};
  const bool dots = output.find(kDots) != std::string::npos;
  // An operand without an ellipsis meets none of its dimensions; in the gradient's equation it must say so.
  for (std::string& s : subscripts) {
    if (dots && s.find(kDots) == std::string::npos) s += kDots;
  }
  Grads grads(2);
  for (size_t i = 0; i < 2; ++i) {
    const std::string &mine = subscripts[i], &other = subscripts[1 - i];
    const std::string summed = only_here(mine, cat(output, other)), left = without(mine, summed);
    const Value parts[] = {g.dy(), conj(g.x(int(1 - i)))};
    grads[i] = emit_einsum(e, parts, cat(output, ",", other, "->", left));
    if (!summed.empty()) grads[i] = put_back(grads[i], left, g.x(int(i)), mine, summed);
  }
  if (!dots) return grads;
  auto fits = [&](int i) { return g.x(i).shape().fully_known() && grads[size_t(i)].valid() && grads[size_t(i)].shape() == g.x(i).shape(); };
  if (fits(0) && fits(1)) return grads;
  auto axes = e.apply("BroadcastGradientArgs", {under_dots(g.x(0), subscripts[0]), under_dots(g.x(1), subscripts[1])});
  if (axes.size() < 2) return grads;
  for (size_t i = 0; i < 2; ++i) {
    const Value from = axes[i] + double(subscripts[i].find(kDots));
    grads[i] = reshape(reduce("Sum", grads[i], from), shape_of(g.x(int(i))));
  }
  return grads;
}

// TensorFlow takes no conjugates here, and no label may be summed alone.
Grads xla_einsum_grad(const GradContext& g) {
  const std::string& equation = g.attr<std::string>("equation");
  const size_t arrow = equation.find("->"), comma = equation.find(',');
  const std::string a = equation.substr(0, comma), b = equation.substr(comma + 1, arrow - comma - 1), output = equation.substr(arrow + 2);
  return {g.one("XlaEinsum", {g.dy(), g.x(1)}, {{"equation", cat(output, ",", b, "->", a)}}),
          g.one("XlaEinsum", {g.dy(), g.x(0)}, {{"equation", cat(output, ",", a, "->", b)}})};
}

}  // namespace

void einsum(Registry& r) {
  r.add("Einsum")
      .in("inputs: N * T")
      .out("output: T")
      .attr("equation: string")
      .attr("N: int >= 1")
      .attr("T: type")
      .doc("Multiplies and sums over dimensions that are named by letters.")
      .shape(einsum_shape)
      .grad(einsum_grad)
      .cpu<Einsum>(types<WEFT_FLOATS, int32_t, int64_t, WEFT_COMPLEX>("T"));

  r.add("XlaEinsum")
      .in("a: T")
      .in("b: T")
      .out("product: T")
      .attr("equation: string")
      .attr("T: {complex64, bfloat16, float}")
      .doc("Einsum of two operands.")
      .shape(einsum_shape)
      .grad(xla_einsum_grad)
      .cpu<Einsum>();

  set_layout(r, {"Einsum"}, layouts::kEinsum);
}

}  // namespace weft_engine::ops
