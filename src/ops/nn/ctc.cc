// CTC loss and decoders, and the edit distance that scores what they find.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/cpu/ctc.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/sparse/sparse_tensor.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using Labels = std::vector<std::vector<int32_t>>;

// --- CTCLoss

Status check_loss_inputs(const Tensor& x, const Tensor& indices, const Tensor& values, const Tensor& lengths) {
  if (x.rank() != 3) return invalid_argument("inputs is not a 3-Tensor");
  if (lengths.rank() != 1) return invalid_argument("sequence_length is not a vector");
  if (indices.rank() != 2) return invalid_argument("labels_indices is not a matrix");
  if (values.rank() != 1) return invalid_argument("labels_values is not a vector");
  const int64_t time = x.dim(0), batch = x.dim(1), classes = x.dim(2);
  if (classes >= std::numeric_limits<int32_t>::max()) return invalid_argument("num_classes cannot exceed max int");
  if (batch != lengths.dim(0))
    return invalid_argument("len(sequence_length) != batch_size.  len(sequence_length):  ", lengths.dim(0), " batch_size: ", batch);
  if (indices.dim(0) != values.dim(0))
    return invalid_argument("labels_indices and labels_values must contain the same number of rows, but saw shapes: ", indices.shape(), " vs. ",
                            values.shape());
  if (batch == 0) return invalid_argument("batch_size must not be 0");
  if (indices.dim(1) < 2) return invalid_argument("labels_indices second dimension must be >= 1. Received ", indices.dim(1));
  if (indices.dim(1) != 2) return invalid_argument("Order length must be SparseTensor rank.");
  if (time == 0) return invalid_argument("Max time or first dimension of input cannot be 0.");
  if (classes == 0) return invalid_argument("num_classes must not be 0");
  return {};
}

Result<Labels> read_labels(const Tensor& indices, const Tensor& values, int64_t batch) {
  const int64_t n = indices.dim(0), *ix = indices.data<int64_t>();
  int64_t longest = 0;
  for (int64_t i = 0; i < n; ++i) longest = std::max(longest, ix[i * 2 + 1] < INT64_MAX ? ix[i * 2 + 1] + 1 : INT64_MAX);
  const int64_t shape[] = {batch, longest};
  if (Status s = check_sparse_order(indices, shape); !s.ok()) return invalid_argument("label SparseTensor is not valid: ", s.message());
  Labels out(static_cast<size_t>(batch));
  for (int64_t i = 0; i < n; ++i) out[size_t(ix[i * 2])].push_back(values.data<int32_t>()[i]);
  return out;
}

// The labels with blanks between and around them. Labels from the blank up end a sequence.
Result<std::vector<int32_t>> make_path(const std::vector<int32_t>& labels, int64_t b, int64_t classes, bool collapse) {
  if (labels.empty()) return invalid_argument("Labels length is zero in batch ", b);
  std::vector<int32_t> kept;
  bool ended = false;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (i > 0 && collapse && labels[i] == labels[i - 1]) continue;
    if (labels[i] >= classes - 1) {
      ended = true;
      continue;
    }
    if (ended)
      return invalid_argument("Saw a non-null label (index >= num_classes - 1) following a null label, batch: ", b, " num_classes: ", classes,
                              " labels: ", join(labels), " labels seen so far: ", join(kept));
    kept.push_back(labels[i]);
  }
  const int32_t blank = int32_t(classes - 1);
  std::vector<int32_t> path = {blank};
  for (int32_t l : kept) {
    if (l < 0) return invalid_argument("All labels must be nonnegative integers, batch: ", b, " labels: ", join(kept));
    path.push_back(l);
    path.push_back(blank);
  }
  return path;
}

Status run_loss(KernelContext& c) {
  const Tensor &x = c.input(0), &lengths = c.input(3);
  WEFT_RETURN_IF_ERROR(check_loss_inputs(x, c.input(1), c.input(2), lengths));
  const int64_t time = x.dim(0), batch = x.dim(1), classes = x.dim(2);
  WEFT_ASSIGN(Labels labels, read_labels(c.input(1), c.input(2), batch));
  const int32_t* length = lengths.data<int32_t>();
  for (int64_t b = 0; b < batch; ++b) {
    if (length[b] > time) return invalid_argument("sequence_length(", b, ") <= ", time);
  }
  for (int64_t b = 0; b < batch; ++b) {
    if (length[b] < 0) return invalid_argument("seq_len(", b, ") < 0");
  }
  const bool ignore_longer = c.attr<bool>("ignore_longer_outputs_than_inputs");
  const bool collapse = c.attr<bool>("preprocess_collapse_repeated"), merge = c.attr<bool>("ctc_merge_repeated");
  std::vector<std::vector<int32_t>> paths;
  int64_t longest = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const auto& l = labels[size_t(b)];
    WEFT_ASSIGN(std::vector<int32_t> path, make_path(l, b, classes, collapse));
    if (!ignore_longer && int64_t(l.size()) > length[b])
      return invalid_argument("Not enough time for target transition sequence (required: ", l.size(), ", available: ", length[b], ")", b,
                              "You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs");
    longest = std::max(longest, int64_t(path.size()));
    paths.push_back(std::move(path));
  }
  WEFT_ASSIGN(Tensor* loss, c.allocate(0, Shape({batch})));
  WEFT_ASSIGN(Tensor* gradient, c.allocate(1, x.shape()));
  // The work space of one sequence, asked for here so that a size beyond memory is an error.
  WEFT_RETURN_IF_ERROR(c.temp(x.dtype(), Shape({time, classes + 2 * longest})).status());
  std::memset(gradient->raw(), 0, gradient->byte_size());
  return dispatch<float, double>(x.dtype(), [&]<class T>(Tag<T>) {
    c.pool().parallel_for(batch, double(time) * double(classes * 10 + longest * 60), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        T& out = loss->data<T>()[b] = 0;
        if (length[b] == 0 || (ignore_longer && int64_t(labels[size_t(b)].size()) > length[b])) continue;
        const kernels::CtcSequence<T> s{x.data<T>() + b * classes, length[b], classes, batch * classes};
        out = kernels::ctc_loss(s, std::span<const int32_t>(paths[size_t(b)]), merge, gradient->data<T>() + b * classes);
      }
    });
    return Status();
  });
}

// --- decoders

Status check_decoder_inputs(const Tensor& x, const Tensor& lengths) {
  if (x.rank() != 3) return invalid_argument("inputs is not a 3-Tensor");
  if (x.num_elements() == 0) return invalid_argument("inputs must not be empty");
  if (lengths.rank() != 1) return invalid_argument("sequence_length is not a vector");
  if (x.dim(1) != lengths.dim(0))
    return failed_precondition("len(sequence_length) != batch_size.  len(sequence_length):  ", lengths.dim(0), " batch_size: ", x.dim(1));
  for (int64_t b = 0; b < x.dim(1); ++b) {
    if (lengths.data<int32_t>()[b] > x.dim(0)) return failed_precondition("sequence_length(", b, ") <= ", x.dim(0));
  }
  if (x.dim(2) >= std::numeric_limits<int32_t>::max()) return invalid_argument("num_classes cannot exceed max int");
  return {};
}

// Writes one label sequence per batch item as a sparse tensor.
Status output_sequences(KernelContext& c, const std::vector<std::vector<int64_t>>& sequences, int indices_at, int values_at, int shape_at) {
  int64_t total = 0, longest = 0;
  for (const auto& s : sequences) {
    total += int64_t(s.size());
    longest = std::max(longest, int64_t(s.size()));
  }
  WEFT_ASSIGN(Tensor* indices, c.allocate(indices_at, Shape({total, 2})));
  WEFT_ASSIGN(Tensor* values, c.allocate(values_at, Shape({total})));
  WEFT_ASSIGN(Tensor* shape, c.allocate(shape_at, Shape({2})));
  shape->data<int64_t>()[0] = int64_t(sequences.size());
  shape->data<int64_t>()[1] = longest;
  int64_t *ix = indices->data<int64_t>(), *to = values->data<int64_t>();
  for (size_t b = 0; b < sequences.size(); ++b) {
    for (size_t i = 0; i < sequences[b].size(); ++i) {
      *ix++ = int64_t(b);
      *ix++ = int64_t(i);
      *to++ = sequences[b][i];
    }
  }
  return {};
}

Status run_greedy(KernelContext& c) {
  const Tensor &x = c.input(0), &lengths = c.input(1);
  WEFT_RETURN_IF_ERROR(check_decoder_inputs(x, lengths));
  const int64_t batch = x.dim(1), classes = x.dim(2), given = c.attr<int64_t>("blank_index");
  if (given < -classes || given >= classes)
    return invalid_argument("blank_index expected to be between ", -classes, " and ", classes - 1, " but was ", given);
  const int64_t blank = given < 0 ? given + classes : given;
  const bool merge = c.attr<bool>("merge_repeated");
  WEFT_ASSIGN(Tensor* scores, c.allocate(3, Shape({batch, 1})));
  std::vector<std::vector<int64_t>> sequences(static_cast<size_t>(batch));
  WEFT_RETURN_IF_ERROR((dispatch<float, double>(x.dtype(), [&]<class T>(Tag<T>) {
    c.pool().parallel_for(batch, double(x.dim(0)) * double(classes), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        T score = 0;
        int64_t last = -1;
        for (int64_t t = 0; t < lengths.data<int32_t>()[b]; ++t) {
          const T* row = x.data<T>() + (t * batch + b) * classes;
          int64_t best = 0;
          for (int64_t k = 1; k < classes; ++k) {
            if (row[k] > row[best]) best = k;
          }
          score += -row[best];
          if (best != blank && !(merge && best == last)) sequences[size_t(b)].push_back(best);
          last = best;
        }
        scores->data<T>()[b] = score;
      }
    });
    return Status();
  })));
  return output_sequences(c, sequences, 0, 1, 2);
}

Status run_beam(KernelContext& c) {
  const Tensor &x = c.input(0), &lengths = c.input(1);
  WEFT_RETURN_IF_ERROR(check_decoder_inputs(x, lengths));
  const int64_t batch = x.dim(1), classes = x.dim(2), width = c.attr<int64_t>("beam_width"), top = c.attr<int64_t>("top_paths");
  const bool merge = c.attr<bool>("merge_repeated");
  if (top > width) return invalid_argument("requested more paths than the beam width.");
  WEFT_ASSIGN(Tensor* scores, c.allocate(int(3 * top), Shape({batch, top})));
  std::vector<std::vector<kernels::BeamPath>> found(static_cast<size_t>(batch));
  WEFT_RETURN_IF_ERROR((dispatch<float, double>(x.dtype(), [&]<class T>(Tag<T>) {
    const double cost = double(x.dim(0)) * double(std::min<int64_t>(width, 100)) * double(classes) * 10;
    c.pool().parallel_for(batch, cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const kernels::CtcSequence<T> s{x.data<T>() + b * classes, lengths.data<int32_t>()[b], classes, batch * classes};
        found[size_t(b)] = kernels::ctc_beam_search(s, width, top, merge);
      }
    });
    for (int64_t b = 0; b < batch; ++b) {
      if (int64_t(found[size_t(b)].size()) < top) return invalid_argument("Less leaves in the beam search than requested.");
      for (int64_t p = 0; p < top; ++p) scores->data<T>()[b * top + p] = T(found[size_t(b)][size_t(p)].log_probability);
    }
    return Status();
  })));
  for (int64_t p = 0; p < top; ++p) {
    std::vector<std::vector<int64_t>> sequences;
    for (auto& paths : found) sequences.push_back(std::move(paths[size_t(p)].labels));
    WEFT_RETURN_IF_ERROR(output_sequences(c, sequences, int(p), int(p + top), int(p + 2 * top)));
  }
  return {};
}

// --- EditDistance

struct Sequences {
  const Tensor &indices, &values, &shape;
};

Status check_edit_inputs(const Sequences& h, const Sequences& t) {
  const auto name = [&](const Sequences& s) { return &s == &h ? "hypothesis" : "truth"; };
  for (const Sequences* s : {&h, &t}) {
    if (s->indices.rank() != 2) return invalid_argument(name(*s), "_indices should be a matrix, but got shape: ", s->indices.shape());
  }
  for (const Sequences* s : {&h, &t}) {
    if (s->values.rank() != 1) return invalid_argument(name(*s), "_values should be a vector, but got shape: ", s->values.shape());
  }
  for (const Sequences* s : {&h, &t}) {
    if (s->shape.rank() != 1) return invalid_argument(name(*s), "_shape should be a vector, but got shape: ", s->shape.shape());
  }
  for (const Sequences* s : {&h, &t}) {
    if (s->values.dim(0) != s->indices.dim(0))
      return invalid_argument("Expected ", name(*s), "_values.NumElements == #rows(", name(*s), "_indices), their shapes are: ", s->values.shape(),
                              " and ", s->indices.shape());
    if (s == &t && s->shape.dim(0) < 2)
      return invalid_argument("Input SparseTensors must have rank at least 2, but truth_shape rank is: ", s->shape.dim(0));
    if (s->shape.dim(0) != s->indices.dim(1))
      return invalid_argument("Expected ", name(*s), "_shape.NumElements == #cols(", name(*s), "_indices), their shapes are: ", s->shape.shape(),
                              " and ", s->indices.shape());
  }
  if (t.shape.dim(0) != h.shape.dim(0))
    return invalid_argument("Expected truth and hypothesis to have matching ranks, but their shapes are: ", t.shape.shape(), " and ",
                            h.shape.shape());
  for (const Sequences* s : {&h, &t}) {
    for (int64_t d : s->shape.span<int64_t>()) {
      if (d < 0) return invalid_argument("Dimension ", d, " must be >= 0");
    }
    const Shape shape(s->shape.span<int64_t>());
    if (!shape.valid()) return invalid_argument("Shape ", shape, " would have more than 2**63 - 1 elements");
  }
  return {};
}

template <class T>
int64_t edit_distance(std::span<const T> a, std::span<const T> b) {
  if (a.size() < b.size()) std::swap(a, b);
  std::vector<int64_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = int64_t(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int64_t diagonal = row[0];
    row[0] = int64_t(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// One sequence after the other: rows whose indices agree in all but the last column.
class SequenceReader {
 public:
  explicit SequenceReader(const Sequences& s) : s_(s), rank_(s.indices.dim(1)) { next(); }
  bool done() const { return begin_ >= s_.indices.dim(0); }
  std::span<const int64_t> key() const { return {s_.indices.data<int64_t>() + begin_ * rank_, size_t(rank_ - 1)}; }
  template <class T>
  std::span<const T> values() const {
    return {s_.values.data<T>() + begin_, size_t(end_ - begin_)};
  }
  int64_t size() const { return end_ - begin_; }
  void next() {
    begin_ = end_;
    if (done()) return;
    for (++end_; end_ < s_.indices.dim(0); ++end_) {
      const int64_t* row = s_.indices.data<int64_t>() + end_ * rank_;
      if (!std::equal(row, row + rank_ - 1, key().begin())) break;
    }
  }

 private:
  const Sequences& s_;
  int64_t rank_, begin_ = 0, end_ = 0;
};

template <class T>
Status write_distances(const Sequences& h, const Sequences& t, bool normalize, Tensor& out) {
  SequenceReader hypothesis(h), truth(t);
  const auto store = [&](std::span<const int64_t> key, float value) -> Status {
    uint64_t at = 0;
    for (size_t d = 0; d < key.size(); ++d) at = at * uint64_t(out.dim(int(d))) + uint64_t(key[d]);
    if (at >= uint64_t(out.num_elements()))
      return internal_error("Got an inner product ", int64_t(at),
                            " which would require writing to outside of the buffer for the output tensor (max elements ", out.num_elements(), ")");
    out.data<float>()[at] = value;
    return {};
  };
  while (!hypothesis.done() || !truth.done()) {
    const int order = hypothesis.done()                                                                     ? 1
                      : truth.done() || std::ranges::lexicographical_compare(hypothesis.key(), truth.key()) ? -1
                      : std::ranges::equal(hypothesis.key(), truth.key())                                   ? 0
                                                                                                            : 1;
    if (order == 0) {
      float distance = float(edit_distance(truth.values<T>(), hypothesis.values<T>()));
      if (normalize) distance /= float(truth.size());
      WEFT_RETURN_IF_ERROR(store(truth.key(), distance));
    } else if (order < 0) {  // nothing was expected here
      WEFT_RETURN_IF_ERROR(store(hypothesis.key(), normalize ? std::numeric_limits<float>::infinity() : float(hypothesis.size())));
    } else {  // nothing was found
      WEFT_RETURN_IF_ERROR(store(truth.key(), normalize ? 1.0f : float(truth.size())));
    }
    if (order <= 0) hypothesis.next();
    if (order >= 0) truth.next();
  }
  return {};
}

Status run_edit_distance(KernelContext& c) {
  const Sequences h{c.input(0), c.input(1), c.input(2)}, t{c.input(3), c.input(4), c.input(5)};
  WEFT_RETURN_IF_ERROR(check_edit_inputs(h, t));
  std::vector<int64_t> dims;
  for (int64_t d = 0; d + 1 < t.shape.dim(0); ++d) dims.push_back(std::max(h.shape.data<int64_t>()[d], t.shape.data<int64_t>()[d]));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape(dims)));
  std::fill_n(out->data<float>(), out->num_elements(), 0.0f);
  const bool normalize = c.attr<bool>("normalize");
  return dispatch<WEFT_NUMBERS, bool, tstring>(h.values.dtype(), [&]<class T>(Tag<T>) { return write_distances<T>(h, t, normalize, *out); });
}

// --- shape rules

Status loss_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape x, c.with_rank(0, 3));
  WEFT_ASSIGN(PartialShape indices, c.with_rank(1, 2));
  WEFT_ASSIGN(PartialShape values, c.with_rank(2, 1));
  WEFT_ASSIGN(PartialShape lengths, c.with_rank(3, 1));
  WEFT_RETURN_IF_ERROR(ShapeContext::merge_dim(indices.dim(0), values.dim(0)).status());
  WEFT_ASSIGN(int64_t batch, ShapeContext::merge_dim(x.dim(1), lengths.dim(0)));
  x.set_dim(1, batch);
  c.output(0, PartialShape::vector(batch));
  c.output(1, x);
  return {};
}

Status decoder_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape x, c.with_rank(0, 3));
  WEFT_ASSIGN(PartialShape lengths, c.with_rank(1, 1));
  WEFT_ASSIGN(int64_t batch, ShapeContext::merge_dim(x.dim(1), lengths.dim(0)));
  const int top = (c.num_outputs() - 1) / 3;
  for (int p = 0; p < top; ++p) {
    c.output(p, PartialShape::matrix(kUnknownDim, 2));
    c.output(p + top, PartialShape::vector(kUnknownDim));
    c.output(p + 2 * top, PartialShape::vector(2));
  }
  c.output(3 * top, PartialShape::matrix(batch, top));
  return {};
}

Status edit_distance_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 0));
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 3));
  const auto h = c.constant_ints(2), t = c.constant_ints(5);
  if (!h || !t) return {};
  if (h->size() != t->size()) return invalid_argument("Num elements of hypothesis_shape does not match truth_shape: ", h->size(), " vs. ", t->size());
  std::vector<int64_t> dims;
  for (size_t d = 0; d + 1 < h->size(); ++d) {
    dims.push_back(std::max((*h)[d], (*t)[d]));
    if (dims.back() < 0) return {};
  }
  c.output(0, PartialShape(std::move(dims)));
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// The kernel makes the gradient; one of this there is none.
Grads loss_grad(const GradContext& g) {
  const Value slope = g.one("PreventGradient", {g.y(1)},
                            {{"message",
                              "Currently there is no way to take the second  derivative of ctc_loss due to the fused "
                              "implementation's interaction  with tf.gradients()"}});
  return {expand_dims(g.dy(0), -1) * slope, {}, {}, {}};
}

}  // namespace

void ctc(Registry& r) {
  r.add("CTCBeamSearchDecoder")
      .in("inputs: T")
      .in("sequence_length: int32")
      .out("decoded_indices: top_paths * int64")
      .out("decoded_values: top_paths * int64")
      .out("decoded_shape: top_paths * int64")
      .out("log_probability: T")
      .attr("beam_width: int >= 1")
      .attr("top_paths: int >= 1")
      .attr("merge_repeated: bool = true")
      .attr("T: {float, double} = DT_FLOAT")
      .doc("The likeliest label sequences of each sequence of logits, found with a beam.")
      .shape(decoder_shape)
      .no_grad()
      .cpu(run_beam);

  r.add("CTCGreedyDecoder")
      .in("inputs: T")
      .in("sequence_length: int32")
      .out("decoded_indices: int64")
      .out("decoded_values: int64")
      .out("decoded_shape: int64")
      .out("log_probability: T")
      .attr("merge_repeated: bool = false")
      .attr("blank_index: int = -1")
      .attr("T: {float, double} = DT_FLOAT")
      .doc("The label sequence made of the best class at each step.")
      .shape(decoder_shape)
      .no_grad()
      .cpu(run_greedy);

  r.add("CTCLoss")
      .in("inputs: T")
      .in("labels_indices: int64")
      .in("labels_values: int32")
      .in("sequence_length: int32")
      .out("loss: T")
      .out("gradient: T")
      .attr("preprocess_collapse_repeated: bool = false")
      .attr("ctc_merge_repeated: bool = true")
      .attr("ignore_longer_outputs_than_inputs: bool = false")
      .attr("T: {float, double} = DT_FLOAT")
      .doc("Negative log-likelihood of label sequences under logits, summed over all alignments, with its gradient.")
      .shape(loss_shape)
      .grad(loss_grad)
      .cpu(run_loss);

  r.add("EditDistance")
      .in("hypothesis_indices: int64")
      .in("hypothesis_values: T")
      .in("hypothesis_shape: int64")
      .in("truth_indices: int64")
      .in("truth_values: T")
      .in("truth_shape: int64")
      .out("output: float")
      .attr("normalize: bool = true")
      .attr("T: type")
      .doc("Levenshtein distance between the sequences of two sparse tensors, by default over the length of the truth.")
      .shape(edit_distance_shape)
      .no_grad()
      .cpu(run_edit_distance, types<WEFT_NUMBERS, bool, tstring>("T"));
}

}  // namespace weft_engine::ops
