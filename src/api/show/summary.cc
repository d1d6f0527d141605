#include "api/unwrap.h"
#include "weft/summary.h"

#include <algorithm>
#include <cmath>

#include "weft/data.h"
#include "weft/math.h"
#include "weft/saved_model.h"
#include "wire/event_file.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft {
namespace {

// Protobuf's strings are UTF-8; a reader refuses the whole event otherwise.
bool is_utf8(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const size_t n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (n == 0 || s.size() - i < n) return false;
    uint32_t code = n == 1 ? c : c & (0x7F >> n);
    for (size_t k = 1; k < n; ++k) {
      const auto more = static_cast<unsigned char>(s[i + k]);
      if ((more & 0xC0) != 0x80) return false;
      code = code << 6 | (more & 0x3F);
    }
    if ((n == 3 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) || (n == 4 && (code < 0x10000 || code > 0x10FFFF))) return false;
    i += n;
  }
  return true;
}

// [buckets, 3] of left edge, right edge and count, as TensorBoard's histograms (tensorboard/plugins/histogram/summary_v2.py).
Tensor histogram_of(const Tensor& values, int buckets) {
  const Tensor wide = values.dtype() == DType::float64 ? values : cast(values, DType::float64);
  std::vector<double> v;
  for (const double x : wide.data<double>()) {
    if (std::isfinite(x)) v.push_back(x);
  }
  std::vector<double> rows(size_t(buckets) * 3);
  if (!v.empty() && buckets > 0) {
    const auto [low, high] = std::minmax_element(v.begin(), v.end());
    const double min = *low, max = *high, width = (max - min) / buckets;
    for (int i = 0; i < buckets; ++i) {
      rows[size_t(i) * 3] = min + width * i;
      rows[size_t(i) * 3 + 1] = i + 1 == buckets ? max : min + width * (i + 1);
    }
    for (const double x : v) {
      // Where all values are the same, or so far apart that their distance is not a number, they count in the last bucket.
      const double at = width > 0 && std::isfinite(width) ? std::floor((x - min) / width) : buckets - 1;
      ++rows[size_t(std::min<double>(at, buckets - 1)) * 3 + 2];
    }
  }
  return Tensor::of<double>({buckets, 3}, std::span<const double>(rows));
}

}  // namespace

struct SummaryWriter::Impl {
  std::unique_ptr<wire::EventFile> file;
};

SummaryWriter::SummaryWriter(const std::string& logdir, const SummaryOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->file = api::unwrap(wire::EventFile::create(logdir, {options.filename_suffix, options.max_queue, options.flush_seconds}));
}
SummaryWriter::SummaryWriter(SummaryWriter&&) noexcept = default;
SummaryWriter& SummaryWriter::operator=(SummaryWriter&& o) noexcept {
  std::swap(impl_, o.impl_);
  return *this;
}
SummaryWriter::~SummaryWriter() {
  if (impl_) (void)impl_->file->close();
}

void SummaryWriter::tensor(const std::string& tag, const Tensor& value, int64_t step, const std::string& plugin) {
  if (tag.empty() || !is_utf8(tag)) throw Error(Code::kInvalidArgument, "a tag is a text in UTF-8 that is not empty");
  const std::string summary = api::unwrap(wire::tensor_summary(tag, api::value_of(value), wire::plugin_metadata(plugin)));
  api::check(impl_->file->write(wire::summary_event(wire::wall_time_now(), step, summary)));
}

void SummaryWriter::scalar(const std::string& tag, double value, int64_t step) { tensor(tag, Tensor(float(value)), step, "scalars"); }

void SummaryWriter::histogram(const std::string& tag, const Tensor& values, int64_t step, int buckets) {
  if (buckets < 0 || buckets > (1 << 20)) throw Error(Code::kInvalidArgument, "a histogram has 0 to 1048576 buckets, not " + std::to_string(buckets));
  tensor(tag, histogram_of(values, buckets), step, "histograms");
}

void SummaryWriter::image(const std::string& tag, const Tensor& images, int64_t step, int max_outputs) {
  auto shape = images.shape();
  if (shape.size() == 3) shape.insert(shape.begin(), 1);
  if (shape.size() != 4)
    throw Error(Code::kInvalidArgument, "images are [height, width, channels] or several of them, not " + to_string(PartialShape(images.shape())));
  const std::vector<int64_t> one(shape.begin() + 1, shape.end());
  const int64_t n = std::min<int64_t>(shape[0], std::max(max_outputs, 0));
  const auto bytes = images.bytes();
  const size_t size = shape[0] ? bytes.size() / size_t(shape[0]) : 0;
  std::vector<std::string> parts{std::to_string(shape[2]), std::to_string(shape[1])};
  for (int64_t i = 0; i < n; ++i) parts.push_back(data::encode_png(Tensor::from_bytes(images.dtype(), one, bytes.data() + size_t(i) * size, size)));
  tensor(tag, Tensor::of_strings({int64_t(parts.size())}, parts), step, "images");
}

void SummaryWriter::text(const std::string& tag, const std::string& markdown, int64_t step) { tensor(tag, Tensor(markdown), step, "text"); }

void SummaryWriter::graph_def(std::string_view serialized, int64_t step) {
  api::check(impl_->file->write(wire::graph_event(wire::wall_time_now(), step, serialized)));
}
void SummaryWriter::graph(const Graph& graph, int64_t step) { graph_def(graph.to_bytes(), step); }

void SummaryWriter::flush() { api::check(impl_->file->flush()); }
void SummaryWriter::close() { api::check(impl_->file->close()); }
const std::string& SummaryWriter::path() const { return impl_->file->path(); }

}  // namespace weft
