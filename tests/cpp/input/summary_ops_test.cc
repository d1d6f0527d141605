// The summary ops that write event files, called as tests/cpp/input/recorded/make_summary_ops.py calls TensorFlow's, whose file and errors these
// are.
#include <cmath>
#include <numeric>

#include "testing.h"
#include "weft/call.h"
#include "weft/data.h"
#include "weft/summary.h"
#include "wire/proto.h"

using namespace weft;           // NOLINT
namespace wire = weft_engine::wire;
using namespace weft::testing;  // NOLINT

namespace {

// Events without their times; images as pixels.
std::vector<std::string> told(const std::string& path) {
  std::vector<std::string> out;
  for (const std::string& record : data::read_tfrecords(path)) {
    wire::ProtoReader r(record);
    std::string text;
    while (r.next()) {
      if (r.field() == 2) text += "step " + std::to_string(r.int64()) + " ";
      if (r.field() == 4) text += "graph " + r.string();
      if (r.field() != 5) continue;
      wire::ProtoReader values = r.message();
      while (values.next()) {
        wire::ProtoReader value = values.message(), image{""};
        std::string tag;
        while (value.next()) {
          if (value.field() == 1) tag = value.string();
          if (value.field() == 4) image = value.message();
        }
        text += tag + "=";
        std::string png;
        while (image.next())
          if (image.field() == 4) png = image.string();
          else text += std::to_string(image.int64()) + ",";
        if (png.empty()) {
          text += values.string();
        } else {
          const Tensor pixels = data::decode_image(png);
          for (const uint8_t v : pixels.data<uint8_t>()) text += " " + std::to_string(v);
        }
      }
    }
    if (!text.empty()) out.push_back(text);
  }
  return out;
}

Tensor bytes(std::string s) { return Tensor(s); }
std::string failure(Call& call) {
  return error_of([&] { call.run(); });
}

}  // namespace

TEST_CASE("the writer ops write what TensorFlow's write") {
  const Scratch scratch;
  const Tensor writer = Call("SummaryWriter").attr("shared_name", "w").one();
  const auto scalar = [&](const Tensor& value, int64_t step = 1, const Tensor& tag = "loss") {
    return error_of([&] { Call("WriteScalarSummary").in(writer).in(Tensor(step)).in(tag).in(value).run(); });
  };
  CHECK(contains(scalar(Tensor(0.5f)), "Could not find resource: localhost/w"));
  CHECK(contains(error_of([&] { Call("FlushSummaryWriter").in(writer).run(); }), "Could not find resource: localhost/w"));
  const auto create = [&](const Tensor& logdir) {
    return error_of(
        [&] { Call("CreateSummaryFileWriter").in(writer).in(logdir).in(Tensor(int32_t(10))).in(Tensor(int32_t(120000))).in(Tensor(".v2")).run(); });
  };
  CHECK(contains(create(Tensor::of_strings({1}, {"a"})), "logdir must be a scalar"));
  CHECK(create(scratch.folder) == "no error");
  CHECK(create(scratch.folder) == "no error");
  CHECK(scalar(Tensor(0.5f)) == "no error");
  CHECK(scalar(Tensor(int32_t(7)), 2, "int") == "no error");
  CHECK(scalar(Tensor(1.f), 1, Tensor::of_strings({1}, {"a"})) == "no error");
  CHECK(scalar(Tensor{1.f, 2.f}) == "no error");
  CHECK(scalar(Tensor::of<float>({0}, std::vector<float>())) != "no error");

  const auto histogram = [&](const Tensor& values, const char* tag) {
    return error_of([&] { Call("WriteHistogramSummary").in(writer).in(Tensor(int64_t(3))).in(Tensor(tag)).in(values).run(); });
  };
  CHECK(histogram(Tensor{1.f, 2.f, 2.f, -3.f}, "hist") == "no error");
  CHECK(histogram(Tensor{true, false, true}, "bools") == "no error");
  CHECK(contains(histogram(Tensor{NAN}, "hist"), "Nan in summary histogram for: hist"));

  std::vector<uint8_t> u(24);
  std::iota(u.begin(), u.end(), uint8_t(0));
  const auto numbers = [&](auto f) {
    std::vector<decltype(f(0.f))> out;
    for (const uint8_t v : u) out.push_back(f(float(v)));
    return out;
  };
  const auto plain = numbers([](float v) { return v; });
  std::vector<float> bad = plain, grey;
  bad[3] = NAN, bad[20] = INFINITY;
  for (size_t i = 0; i < 24; i += 3) grey.push_back(bad[i]);
  const Tensor red = Tensor::of<uint8_t>({4}, {255, 0, 0, 255});
  const auto image = [&](const char* tag, const Tensor& t, int most = 2, Tensor color = {}) {
    return error_of([&] {
      Call("WriteImageSummary")
          .in(writer)
          .in(Tensor(int64_t(4)))
          .in(Tensor(tag))
          .in(t)
          .in(color.has_value() ? color : red)
          .attr("max_images", most)
          .run();
    });
  };
  const auto floats = [](std::vector<int64_t> shape, const std::vector<float>& v) {
    return Tensor::of<float>(std::move(shape), std::span<const float>(v));
  };
  const auto cast = [](const Tensor& t, DType to) { return Call("Cast").in(t).attr("DstT", to).one(); };
  CHECK(image("image", Tensor::of<uint8_t>({1, 2, 4, 3}, std::span<const uint8_t>(u)), 3) == "no error");
  CHECK(image("floats", floats({1, 2, 4, 3}, bad), 1) == "no error");
  CHECK(image("negative", floats({2, 2, 2, 3}, numbers([](float v) { return v - 11; }))) == "no error");
  CHECK(image("positive", floats({2, 2, 2, 3}, numbers([](float v) { return v / 7; }))) == "no error");
  CHECK(image("zeros", floats({1, 2, 2, 1}, std::vector<float>(4))) == "no error");
  CHECK(image("grey", floats({1, 2, 4, 1}, grey)) == "no error");
  CHECK(image("nothing", floats({1, 1, 2, 1}, {NAN, NAN})) == "no error");
  CHECK(image("half", cast(floats({1, 2, 4, 3}, plain), DType::float16)) == "no error");
  CHECK(image("half_negative", cast(floats({1, 2, 3, 4}, numbers([](float v) { return v - 7; })), DType::float16)) == "no error");
  const auto thirds = numbers([](float v) { return double(v) / 3; });
  CHECK(image("double", Tensor::of<double>({1, 2, 3, 4}, std::span<const double>(thirds))) == "no error");
  CHECK(contains(image("image", Tensor::of<uint8_t>({2, 3, 4}, std::span<const uint8_t>(u))),
                 "Tensor must be 4-D with last dim 1, 3, or 4, not [2,3,4]"));
  CHECK(contains(image("image", floats({1, 2, 4, 3}, bad), 3, Tensor::of<uint8_t>({1}, {1})),
                 "expected depth <= bad_color.size, got depth = 3, bad_color.size = 1"));

  std::vector<float> wave(20);
  // numpy's float32 sines
  for (size_t i = 0; i < 20; ++i) wave[i] = float(std::sin(double(i)));
  Call("WriteAudioSummary")
      .in(writer)
      .in(Tensor(int64_t(5)))
      .in(Tensor("audio"))
      .in(floats({2, 5, 2}, wave))
      .in(Tensor(8000.f))
      .attr("max_outputs", 2)
      .run();

  const std::string metadata(
      "\n\x06\n\x01p\x12\x01"
      "c",
      8);
  const auto tensor = [&](const Tensor& t, const char* tag, const std::string& meta) {
    Call("WriteSummary").in(writer).in(Tensor(int64_t(6))).in(t).in(Tensor(tag)).in(bytes(meta)).run();
  };
  tensor(Tensor{1.f, 2.f}, "tensor", metadata);
  tensor(Tensor("s"), "text", "");
  tensor(Tensor(1.f), "t", "\xff");

  const std::string one = Call("ScalarSummary").in(Tensor("a")).in(Tensor(1.f)).one().strings()[0];
  const std::string two = Call("HistogramSummary").in(Tensor("b")).in(Tensor{1.f}).one().strings()[0];
  const auto raw = [&](const Tensor& t) { return error_of([&] { Call("WriteRawProtoSummary").in(writer).in(Tensor(int64_t(7))).in(t).run(); }); };
  CHECK(raw(Tensor::of_strings({2}, {one, two})) == "no error");
  CHECK(contains(raw(bytes("\xff")), "Bad tf.compat.v1.Summary binary proto tensor string at index 0"));
  const auto import = [&](const std::string& event) { return error_of([&] { Call("ImportEvent").in(writer).in(bytes(event)).run(); }); };
  CHECK(import(std::string("\t\0\0\0\0\0\0\x29\x40\x10\x08*", 12) + char(one.size()) + one) == "no error");
  CHECK(contains(import("\xff"), "Bad tf.Event binary proto tensor string"));
  const auto graph = [&](const std::string& def) {
    return error_of([&] { Call("WriteGraphSummary").in(writer).in(Tensor(int64_t(9))).in(bytes(def)).run(); });
  };
  CHECK(graph("\"\x02\x08\x01") == "no error");
  CHECK(contains(graph("\xff"), "Bad tf.GraphDef binary proto tensor string"));
  Call("FlushSummaryWriter").in(writer).run();
  Call("CloseSummaryWriter").in(writer).run();
  CHECK(contains(scalar(Tensor(1.f)), "Resource localhost/w/N10tensorflow22SummaryWriterInterfaceE does not exist."));
  CHECK(error_of([&] { Call("CloseSummaryWriter").in(writer).run(); }) != "no error");

  std::string file;
  for (const auto& e : std::filesystem::directory_iterator(scratch.folder)) file = e.path().string();
  const auto ours = told(file), theirs = told("tests/cpp/input/recorded/writer_ops.tfevents");
  REQUIRE(ours.size() == theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) CHECK(ours[i] == theirs[i]);
}

TEST_CASE("summaries that make no sense are told") {
  const auto error = [](const char* op, const std::vector<Tensor>& in) {
    Call call(op);
    for (const Tensor& t : in) call.in(t);
    return failure(call);
  };
  CHECK(contains(error("ScalarSummary", {Tensor::of_strings({2}, {"a", "b"}), Tensor(1.f)}), "tags and values are not the same shape: [2] != []"));
  CHECK(contains(error("HistogramSummary", {Tensor("h"), Tensor{INFINITY}}), "Infinity in Histogram for: HistogramSummary"));
  CHECK(contains(error("HistogramSummary", {Tensor::of_strings({1}, {"h"}), Tensor{1.f}}), "tags must be scalar"));
  CHECK(contains(error("AudioSummaryV2", {Tensor("a"), Tensor{1.f}, Tensor(8000.f)}), "Tensor must be 3-D or 2-D, got: [1]"));
  CHECK(contains(error("AudioSummaryV2", {Tensor("a"), Tensor{{1.f}}, Tensor(0.f)}), "sample_rate must be > 0"));
  const std::string one = Call("ScalarSummary").in(Tensor("a")).in(Tensor(1.f)).one().strings()[0];
  CHECK(contains(error_of([&] { Call("MergeSummary").in(std::vector<Tensor>{bytes(one), bytes(one)}).run(); }),
                 "Duplicate tag a found in summary inputs"));
  CHECK(contains(error_of([&] { Call("MergeSummary").in(std::vector<Tensor>{bytes("\xff")}).run(); }), "Could not parse one of the summary inputs"));
}
