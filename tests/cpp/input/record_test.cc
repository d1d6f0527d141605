// Records and examples; the files of tests/cpp/input/recorded are TensorFlow's.
#include <cstring>

#include "testing.h"
#include "weft/data.h"

using namespace weft;           // NOLINT
using namespace weft::data;     // NOLINT
using namespace weft::testing;  // NOLINT

namespace {

const std::string kGolden = "tests/cpp/input/recorded/";

std::string repeated(const std::string& s, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += s;
  return out;
}

}  // namespace

TEST_CASE("TensorFlow's records are read, and ours are the same bytes") {
  const Scratch scratch;
  const std::vector<std::string> expected{"one", "", repeated("three", 100)};
  for (const auto& [name, compression] : {std::pair{"plain", ""}, {"gzip", "GZIP"}, {"zlib", "ZLIB"}}) {
    CHECK(read_tfrecords(kGolden + name + ".tfrecord", compression) == expected);
    TFRecordWriter writer(scratch("a"), compression);
    for (const auto& r : expected) writer.write(r);
    writer.flush();
    writer.close();
    CHECK(read_tfrecords(scratch("a"), compression) == expected);
    if (!*compression) CHECK(read_file(scratch("a")) == read_file(kGolden + "plain.tfrecord"));
    CHECK(contains(error_of([&] { writer.write("more"); }), "the writer is closed"));
  }
}

TEST_CASE("records that are damaged or cut off") {
  const Scratch scratch;
  const std::string whole = read_file(kGolden + "plain.tfrecord");
  const auto error = [&](const std::string& bytes) {
    write_file(scratch("r"), bytes);
    return error_of([&] { read_tfrecords(scratch("r")); });
  };
  std::string bent = whole;
  bent[12] = 'O';
  CHECK(contains(error(bent), scratch("r") + ": corrupted record at 12"));
  CHECK(contains(error(whole.substr(0, whole.size() - 1)), "truncated record at 35"));
  CHECK(contains(error(whole.substr(0, 5)), "truncated record at 0"));
  CHECK(contains(error("this is no such file at all"), "Is this even a TFRecord file?"));
  CHECK(error(whole.substr(0, 19)) == "no error");  // ends between two records
  bend(whole, 500, false, [&](const std::string& b) {
    write_file(scratch("b"), b);
    read_tfrecords(scratch("b"));
  });
  bend(read_file(kGolden + "gzip.tfrecord"), 300, false, [&](const std::string& b) {
    write_file(scratch("b"), b);
    read_tfrecords(scratch("b"), "GZIP");
  });
  CHECK(contains(error_of([] { read_tfrecords("/nowhere/at/all"); }), "/nowhere/at/all; No such file"));
  CHECK(contains(error_of([&] { TFRecordReader(scratch("r"), "LZ4"); }), "Unsupported compression_type"));
}

TEST_CASE("TensorFlow's tf.Example, read and written") {
  const std::string bytes = read_file(kGolden + "example.pb");
  const Example e = Example::parse(bytes);
  CHECK(e.names() == std::vector<std::string>{"floats", "ints", "name", "none"});
  CHECK(e.get("name").strings() == std::vector<std::string>{"a", "bc"});
  CHECK(e.get("floats").to_vector<float>() == std::vector<float>{1.5f, -2, 3.25f});
  CHECK(e.get("ints").to_vector<int64_t>() == std::vector<int64_t>{7, -1, int64_t(1) << 40});
  CHECK(e.get("none").size() == 0);
  CHECK(e.serialize() == bytes);
  CHECK(contains(error_of([&] { e.get("label"); }), "no feature 'label'; it has: floats, ints, name, none"));
  bend(bytes, 20000, false, [](const std::string& b) { Example::parse(b); });

  Example made;
  made.set("name", Tensor::of_strings({2}, {"a", "bc"}))
      .set("floats", Tensor{1.5, -2.0, 3.25})
      .set("ints", Tensor{int64_t(7), int64_t(-1), int64_t(1) << 40});
  made.set("none", Tensor::of<int32_t>({0}, std::vector<int32_t>()));
  CHECK(made.serialize() == bytes);
  CHECK(contains(error_of([&] { made.set("big", Tensor(~uint64_t(0))); }), "too small for 18446744073709551615"));
  CHECK(contains(error_of([&] { made.set("c", Tensor(std::complex<float>(1, 2))); }), "holds no complex64"));
}

TEST_CASE("examples become tensors") {
  Example a, b;
  a.set("x", Tensor{{1.f, 2.f}, {3.f, 4.f}}).set("label", Tensor(int32_t(3))).set("words", Tensor::of_strings({2}, {"p", "q"}));
  b.set("x", Tensor{{5.f, 6.f}, {7.f, 8.f}}).set("words", Tensor::of_strings({1}, {"r"}));
  const Tensor batch = Tensor::of_strings({2}, {a.serialize(), b.serialize()});
  const std::map<std::string, FeatureSpec> specs{
      {"x", {DType::float32, {2, 2}}}, {"label", {DType::int64, {}, Tensor(int64_t(-1))}}, {"words", {DType::string, {-1}}}};
  const Arrays t = parse_example(batch, specs);
  CHECK(t.at("x").shape() == std::vector<int64_t>{2, 2, 2});
  CHECK(t.at("x").data<float>()[4] == 5);
  CHECK(t.at("label").to_vector<int64_t>() == std::vector<int64_t>{3, -1});
  CHECK(t.at("words").strings() == std::vector<std::string>{"p", "q", "r", ""});
  const Arrays one = parse_example(Tensor(a.serialize()), specs);
  CHECK(one.at("x").shape() == std::vector<int64_t>{2, 2});
  CHECK(one.at("label").item<int64_t>() == 3);
  const Arrays ragged = parse_example(batch, {{"words", {.dtype = DType::string, .ragged = true}}});
  CHECK(ragged.at("words").strings() == std::vector<std::string>{"p", "q", "r"});
  CHECK(ragged.at("words/row_splits").to_vector<int64_t>() == std::vector<int64_t>{0, 2, 3});
  CHECK(contains(error_of([&] { parse_example(batch, {{"label", {DType::int64}}}); }),
                 "Feature: label (data type: int64) is required but could not be found"));
  CHECK(contains(error_of([&] { parse_example(batch, {{"x", {DType::float64}}}); }),
                 "feature 'x': a tf.Example holds float, int64 or string, not double"));
}

TEST_CASE("images come back from PNG files, and folders of them by class") {
  const Scratch scratch;
  std::vector<uint8_t> pixels(5 * 4 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = uint8_t(i * 4);
  const Tensor image = Tensor::of<uint8_t>({5, 4, 3}, pixels);
  write_png(scratch("cats/b.PNG"), image);
  write_png(scratch("cats/a.png"), Tensor::of<float>({1, 2}, {0.f, 1.f}));
  write_png(scratch("dogs/c.png"), image);
  write_file(scratch("dogs/notes.txt"), "not an image");
  CHECK(read_image(scratch("dogs/c.png")).to_vector<uint8_t>() == pixels);
  CHECK(read_image(scratch("cats/a.png")).to_vector<uint8_t>() == std::vector<uint8_t>{0, 255});
  CHECK(read_image(scratch("cats/a.png"), {.channels = 3}).shape() == std::vector<int64_t>{1, 2, 3});
  const Tensor small = read_image(scratch("dogs/c.png"), {.channels = 3, .height = 2, .width = 2});
  CHECK(small.shape() == std::vector<int64_t>{2, 2, 3});
  CHECK(small.dtype() == DType::float32);
  const ImageFolder folder = list_image_folder(scratch.folder);
  CHECK(folder.classes == std::vector<std::string>{"cats", "dogs"});
  CHECK(folder.files == std::vector<std::string>{scratch("cats/a.png"), scratch("cats/b.PNG"), scratch("dogs/c.png")});
  CHECK(folder.labels == std::vector<int32_t>{0, 0, 1});
  CHECK(contains(error_of([&] { read_image(scratch("dogs/notes.txt")); }), scratch("dogs/notes.txt") + ": "));
  CHECK(contains(error_of([&] { list_image_folder(scratch("none")); }), "none; No such file or directory"));
  CHECK(contains(error_of([&] { list_image_folder(scratch("cats")); }), "no images"));
  CHECK(contains(error_of([&] { encode_png(Tensor{1.f}); }), "not [1]"));
  bend(read_file(scratch("dogs/c.png")), 500, true, [](const std::string& b) { decode_image(b); });
}
