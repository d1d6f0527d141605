#include "weft/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "cli/text.h"
#include "cli/value.h"
#include "weft/array.h"

namespace weft::cli {
namespace {

// "NAME=VALUE" for each input of the signature; numbers take the input's type, and dimensions of one that an array lacks are added.
NamedTensors read_samples(const SignatureInfo& signature, const std::vector<std::string>& assignments) {
  NamedTensors out = make_inputs(signature, assignments, true, false, 1);
  for (auto& [name, t] : out) {
    for (const TensorSpec& spec : signature.inputs) {
      if (spec.name != name || !spec.shape.known_rank || t.shape().size() == spec.shape.dims.size()) continue;
      std::vector<int64_t> want = spec.shape.dims;
      std::erase(want, 1);
      std::vector<int64_t> have = t.shape();
      std::erase(have, 1);
      bool fits = want.size() == have.size();
      for (size_t i = 0; fits && i < want.size(); ++i) fits = want[i] < 0 || want[i] == have[i];
      if (!fits) continue;  // running it tells what is wrong
      std::vector<int64_t> dims;
      size_t at = 0;
      for (int64_t d : spec.shape.dims) dims.push_back(d == 1 ? 1 : have[at++]);
      t = reshape(t, dims);
    }
  }
  return out;
}

// Cut into runs of so many rows, where every input has an open first dimension of the same size; else as one run.
std::vector<NamedTensors> cut(const SignatureInfo& signature, const NamedTensors& all, int64_t batch) {
  int64_t rows = -1;
  for (const TensorSpec& spec : signature.inputs) {
    const Tensor* t = nullptr;
    for (const auto& [name, value] : all) {
      if (name == spec.name) t = &value;
    }
    const bool open = spec.shape.known_rank && !spec.shape.dims.empty() && spec.shape.dims[0] < 0 && t && !t->shape().empty();
    if (!open || (rows >= 0 && t->shape()[0] != rows)) return {all};
    rows = t->shape()[0];
  }
  if (rows <= batch) return {all};
  std::vector<NamedTensors> out;
  for (int64_t i = 0; i < rows; i += batch) {
    NamedTensors part;
    for (const auto& [name, t] : all) {
      std::vector<int64_t> begin(t.shape().size(), 0), size = t.shape();
      begin[0] = i, size[0] = std::min(batch, rows - i);
      part.emplace_back(name, slice(t, begin, size));
    }
    out.push_back(std::move(part));
  }
  return out;
}

// How far two models are apart in one of their results.
struct Comparison {
  int64_t rows = 0, same = 0, right_before = 0, right_after = 0;
  double largest = 0, squares = 0, signal = 0;
  bool classes = true;  // the result is a matrix: rows of scores

  void add(const Tensor& before, const Tensor& after, const std::vector<int64_t>& labels) {
    const Tensor a = cast(before, DType::float32), b = cast(after, DType::float32);
    const auto x = a.data<float>(), y = b.data<float>();
    for (size_t i = 0; i < x.size(); ++i) {
      const double d = double(y[i]) - double(x[i]);
      largest = std::max(largest, std::abs(d)), squares += d * d, signal += double(x[i]) * double(x[i]);
    }
    classes &= a.shape().size() == 2 && a.shape()[1] > 1;
    if (!classes) return;
    const size_t n = size_t(a.shape()[1]);
    for (size_t i = 0; i + n <= x.size(); i += n) {
      const auto best = [&](const auto& s) { return std::max_element(s.begin() + long(i), s.begin() + long(i + n)) - s.begin() - long(i); };
      const auto p = best(x), q = best(y);
      same += p == q;
      if (size_t(rows) < labels.size()) right_before += p == labels[size_t(rows)], right_after += q == labels[size_t(rows)];
      ++rows;
    }
  }
};

std::string percent(int64_t part, int64_t all) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", all ? 100.0 * double(part) / double(all) : 0.0);
  return text;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

uint64_t folder_bytes(const std::string& path) {
  uint64_t sum = 0;
  std::error_code e;
  if (!std::filesystem::is_directory(path, e)) return std::filesystem::file_size(path, e);
  for (const auto& f : std::filesystem::recursive_directory_iterator(path, e)) sum += f.is_regular_file() ? f.file_size() : 0;
  return sum;
}

std::vector<int64_t> read_labels(const std::string& text) {
  TensorSpec spec;
  spec.name = "labels", spec.dtype = DType::int64;
  const Tensor t = parse_value(spec, text, true);
  const auto values = t.data<int64_t>();
  return {values.begin(), values.end()};
}

}  // namespace

int quantize(const QuantizeArgs& args) {
  const Model model = load_model(args.load);
  QuantizeOptions o;
  o.signature = choose_signature(model, args.signature);
  o.keep = args.keep;
  o.least_depth = args.least_depth;
  const Signature before = model[o.signature];
  const std::vector<NamedTensors> samples = cut(before.info(), read_samples(before.info(), args.calibrate), args.batch);
  std::vector<QuantizedLayer> layers;
  const Graph graph = weft::quantize(model, samples, o, &layers);
  save_graph(graph, args.output);

  std::vector<std::vector<std::string>> rows;
  size_t count = 0;
  for (const QuantizedLayer& l : layers) {
    rows.push_back({l.name, l.op, to_string(l.weights), l.kept.empty() ? number(l.low) + " to " + number(l.high) : "float: " + l.kept});
    count += l.kept.empty();
  }
  std::cout << table({"layer", "op", "weights", "values that go in"}, rows);
  std::cout << args.output << ": " << count << " of " << layers.size() << " layers in 8 bits, " << human_bytes(double(folder_bytes(args.output)))
            << " (" << human_bytes(double(folder_bytes(args.load.path))) << " before)\n";
  if (count == 0) std::cerr << "weft: nothing was quantised\n";

  const std::vector<NamedTensors> tests = args.test.empty() ? samples : cut(before.info(), read_samples(before.info(), args.test), args.batch);
  const std::vector<int64_t> labels = args.labels.empty() ? std::vector<int64_t>() : read_labels(args.labels);
  LoadArgs quantised = args.load;
  quantised.path = args.output, quantised.tags = {"serve"}, quantised.init = {};
  const Signature after = load_model(quantised)["serving_default"];
  std::vector<Comparison> found(before.info().outputs.size());
  for (const NamedTensors& sample : tests) {
    const Outputs a = before(sample), b = after(sample);
    for (size_t i = 0; i < found.size(); ++i) found[i].add(a[int(i)], b[int(i)], labels);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const Comparison& c = found[i];
    std::cout << before.info().outputs[i].name << ": largest difference " << number(c.largest) << ", noise "
              << number(c.signal > 0 ? std::sqrt(c.squares / c.signal) : 0) << " of the signal";
    if (c.classes && c.rows) std::cout << "; the same class in " << percent(c.same, c.rows) << " of " << c.rows << " rows";
    std::cout << "\n";
    if (labels.empty() || !c.classes) continue;
    if (int64_t(labels.size()) != c.rows)
      throw Error(Code::kInvalidArgument,
                  "there are " + std::to_string(labels.size()) + " labels for " + std::to_string(c.rows) + " rows of results");
    std::cout << "accuracy: " << percent(c.right_before, c.rows) << " before, " << percent(c.right_after, c.rows) << " in 8 bits\n";
  }
  return 0;
}

}  // namespace weft::cli
