// Ops that cut strings into tokens and build n-grams of tokens.
#include <algorithm>

#include "kernels/cpu/text.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using Tokens = std::vector<std::string_view>;

// At every byte of `delimiters`; without delimiters, after every byte.
void split_at_any(std::string_view s, std::string_view delimiters, bool skip_empty, Tokens& out) {
  if (delimiters.empty()) {
    for (size_t i = 0; i < s.size(); ++i) out.push_back(s.substr(i, 1));
    return;
  }
  size_t begin = 0;
  while (!s.empty()) {
    const size_t end = std::min(s.find_first_of(delimiters, begin), s.size());
    if (!skip_empty || end > begin) out.push_back(s.substr(begin, end - begin));
    if (end == s.size()) return;
    begin = end + 1;
  }
}

// As Python's str.split: at `separator`, or at runs of white space if that is empty.
void split_at(std::string_view s, std::string_view separator, int64_t max_splits, Tokens& out) {
  if (max_splits == 0) {
    out.push_back(s);
    return;
  }
  int64_t splits = 0;
  if (!separator.empty()) {
    for (size_t end; (end = s.find(separator)) != s.npos && (max_splits < 0 || splits < max_splits); ++splits) {
      out.push_back(s.substr(0, end));
      s.remove_prefix(end + separator.size());
    }
    out.push_back(s);
    return;
  }
  auto skip_space = [&] {
    while (!s.empty() && kernels::is_space(s.front())) s.remove_prefix(1);
  };
  for (skip_space(); !s.empty(); skip_space()) {
    if (max_splits > 0 && splits++ == max_splits) {
      out.push_back(s);
      return;
    }
    const auto end = size_t(std::find_if(s.begin(), s.end(), kernels::is_space) - s.begin());
    out.push_back(s.substr(0, end));
    s.remove_prefix(end);
  }
  if (max_splits > 0 && splits == max_splits) out.push_back(s);  // TensorFlow keeps what is left, even nothing
}

// The tokens of all rows as a sparse matrix.
Status emit_tokens(KernelContext& c, const Tokens& tokens, const std::vector<int64_t>& counts) {
  const auto n = static_cast<int64_t>(tokens.size());
  WEFT_ASSIGN(Tensor* indices, c.allocate(0, Shape({n, 2})));
  WEFT_ASSIGN(Tensor* values, c.allocate(1, Shape({n})));
  WEFT_ASSIGN(Tensor* shape, c.allocate(2, Shape({2})));
  shape->data<int64_t>()[0] = static_cast<int64_t>(counts.size());
  shape->data<int64_t>()[1] = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  int64_t* at = indices->data<int64_t>();
  for (size_t i = 0; i < counts.size(); ++i) {
    for (int64_t k = 0; k < counts[i]; ++k) *at++ = int64_t(i), *at++ = k;
  }
  for (size_t i = 0; i < tokens.size(); ++i) values->data<tstring>()[i] = tokens[i];
  return {};
}

template <class Split>
Status split_rows(KernelContext& c, std::string_view delimiter_name, Split split) {
  const Tensor &in = c.input(0), &delimiter = c.input(1);
  if (in.rank() != 1) return invalid_argument("input must be a vector, got shape: ", in.shape());
  if (delimiter.rank() != 0) return invalid_argument(delimiter_name, " must be a scalar, got shape: ", delimiter.shape());
  Tokens tokens;
  std::vector<int64_t> counts;
  for (const tstring& s : in.span<tstring>()) {
    const size_t before = tokens.size();
    split(s.view(), delimiter.data<tstring>()[0].view(), tokens);
    counts.push_back(static_cast<int64_t>(tokens.size() - before));
  }
  return emit_tokens(c, tokens, counts);
}

Status run_split(KernelContext& c) {
  const bool skip_empty = c.attr<bool>("skip_empty");
  return split_rows(c, "delimiter", [=](std::string_view s, std::string_view d, Tokens& out) { split_at_any(s, d, skip_empty, out); });
}

Status run_split_v2(KernelContext& c) {
  const int64_t max_splits = c.attr<int64_t>("maxsplit");
  return split_rows(c, "sep", [=](std::string_view s, std::string_view d, Tokens& out) { split_at(s, d, max_splits, out); });
}

Status split_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  c.output(0, PartialShape::matrix(kUnknownDim, 2));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, PartialShape::vector(2));
  return {};
}

struct NGrams {
  std::string separator, left_pad, right_pad;
  std::vector<int64_t> widths;
  int64_t pad_width;
  bool preserve_short;

  static Result<NGrams> make(const NodeInfo& node) {
    return NGrams{node.attr<std::string>("separator"), node.attr<std::string>("left_pad"),
                  node.attr<std::string>("right_pad"), node.attr<std::vector<int64_t>>("ngram_widths"),
                  node.attr<int64_t>("pad_width"),     node.attr<bool>("preserve_short_sequences")};
  }

  // Padding is never wider than what leaves one token in the window.
  int64_t pad(int64_t width) const { return std::min(pad_width < 0 ? width - 1 : pad_width, width - 1); }
  int64_t count(int64_t length, int64_t width) const { return std::max<int64_t>(0, length + 2 * pad(width) - width + 1); }

  std::string gram(const tstring* tokens, int64_t index, int64_t grams, int64_t width) const {
    const int64_t left = std::max<int64_t>(0, pad(width) - index), right = std::max<int64_t>(0, pad(width) - (grams - (index + 1)));
    const int64_t first = left > 0 ? 0 : index - pad(width), n = width - (left + right);
    std::string out;
    auto add = [&, any = false](std::string_view s) mutable {
      if (any) out += separator;
      any = true;
      out += s;
    };
    for (int64_t i = 0; i < left; ++i) add(left_pad);
    for (int64_t i = 0; i < n; ++i) add(tokens[first + i].view());
    for (int64_t i = 0; i < right; ++i) add(right_pad);
    return out;
  }

  Status run(KernelContext& c) const {
    return dispatch<int32_t, int64_t>(c.input(1).dtype(), [&]<class T>(Tag<T>) { return run_typed<T>(c); });
  }

  template <class T>
  static Status check_splits(std::span<const T> splits, int64_t size) {
    if (splits.empty()) return {};
    if (splits[0] != 0) return invalid_argument("First split value must be 0, got ", int64_t(splits[0]));
    for (size_t i = 1; i < splits.size(); ++i) {
      if (splits[i] < splits[i - 1] || splits[i] > size)
        return invalid_argument("Invalid split value ", int64_t(splits[i]), ", must be in [", int64_t(splits[i - 1]), ", ", size, "]");
    }
    if (splits.back() != size) return invalid_argument("Last split value must be data size. Expected ", size, ", got ", int64_t(splits.back()));
    return {};
  }

  template <class T>
  Status run_typed(KernelContext& c) const {
    // Padding lets a short input ask for endless output: width strings in each of width n-grams.
    constexpr int64_t kMaxWidth = 1 << 24, kMaxTokens = 1 << 28;
    for (int64_t w : widths) {
      if (w <= 0) return invalid_argument("ngram_widths must contain positive values");
      if (w > kMaxWidth) return invalid_argument("ngram_widths must not exceed ", kMaxWidth, ", got ", w);
    }
    const Tensor &data = c.input(0), &splits_in = c.input(1);
    const auto splits = splits_in.span<T>();
    WEFT_RETURN_IF_ERROR(check_splits<T>(splits, data.num_elements()));
    WEFT_ASSIGN(Tensor* out_splits, c.allocate(1, splits_in.shape()));
    T* to = out_splits->data<T>();
    if (data.num_elements() == 0 || splits.empty()) {
      std::fill(to, to + splits.size(), T(0));
      return c.allocate(0, data.shape()).status();
    }
    int64_t total = to[0] = 0, tokens_out = 0;
    for (size_t i = 1; i < splits.size(); ++i) {
      const int64_t length = splits[i] - splits[i - 1], before = total;
      for (int64_t w : widths) {
        total += count(length, w);
        tokens_out += std::min(count(length, w), kMaxTokens) * w;
        if (tokens_out > kMaxTokens) return resource_exhausted("ngrams of more than ", kMaxTokens, " tokens in all");
      }
      if (preserve_short && length > 0 && total == before) ++total;
      if (total > std::numeric_limits<T>::max()) return invalid_argument("too many ngrams for ", dtype_name(splits_in.dtype()), " splits");
      to[i] = T(total);
    }
    WEFT_ASSIGN(Tensor* ngrams, c.allocate(0, Shape({total})));
    tstring* out = ngrams->data<tstring>();
    for (size_t i = 0; i + 1 < splits.size(); ++i) {
      const tstring* tokens = data.data<tstring>() + splits[i];
      const int64_t length = splits[i + 1] - splits[i];
      tstring* before = out;
      for (int64_t w : widths) {
        const int64_t n = count(length, w);
        for (int64_t k = 0; k < n; ++k) *out++ = gram(tokens, k, n, w);
      }
      if (!preserve_short || out != before || length == 0) continue;
      if (pad_width < 0)
        return invalid_argument("Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are not provided, got ", pad_width);
      if (pad_width > kMaxWidth) return invalid_argument("pad_width must not exceed ", kMaxWidth, ", got ", pad_width);
      *out++ = gram(tokens, 0, 1, length + 2 * pad_width);
    }
    return {};
  }
};

Status ngrams_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 1).status());
  WEFT_ASSIGN(PartialShape splits, c.with_rank(1, 1));
  c.output(0, PartialShape::vector(kUnknownDim));
  c.output(1, splits);
  return {};
}

}  // namespace

void string_split(Registry& r) {
  r.add("StringNGrams")
      .doc("Joins runs of neighbouring tokens, row by row.")
      .in("data: string")
      .in("data_splits: Tsplits")
      .out("ngrams: string")
      .out("ngrams_splits: Tsplits")
      .attr("separator: string")
      .attr("ngram_widths: list(int) >= 0")
      .attr("left_pad: string")
      .attr("right_pad: string")
      .attr("pad_width: int")
      .attr("preserve_short_sequences: bool")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .shape(ngrams_shape)
      .cpu<NGrams>();

  r.add("StringSplit")
      .doc("Splits strings at any of some bytes, into a sparse matrix.")
      .in("input: string")
      .in("delimiter: string")
      .out("indices: int64")
      .out("values: string")
      .out("shape: int64")
      .attr("skip_empty: bool = true")
      .shape(split_shape)
      .no_grad()
      .cpu(run_split);

  r.add("StringSplitV2")
      .doc("Splits strings at a separator or at white space, into a sparse matrix.")
      .in("input: string")
      .in("sep: string")
      .out("indices: int64")
      .out("values: string")
      .out("shape: int64")
      .attr("maxsplit: int = -1")
      .shape(split_shape)
      .cpu(run_split_v2);
}

}  // namespace weft_engine::ops
