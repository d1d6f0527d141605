// Event files. tests/cpp/input/recorded/events.tfevents is what TensorFlow's tf.summary wrote for the same values.
#include "weft/summary.h"

#include <cmath>
#include <thread>

#include "testing.h"
#include "weft/data.h"
#include "wire/proto.h"

using namespace weft;           // NOLINT
namespace wire = weft_engine::wire;
using namespace weft::testing;  // NOLINT

namespace {

const std::string kGolden = "tests/cpp/input/recorded/events.tfevents";

// The summaries of a file as bytes, by tag and step.
std::map<std::string, std::string> raw_summaries(const std::string& path) {
  std::map<std::string, std::string> out;
  for (const std::string& record : data::read_tfrecords(path)) {
    wire::ProtoReader r(record);
    std::string summary, step = "0";
    while (r.next()) {
      if (r.field() == 2) step = std::to_string(r.int64());
      if (r.field() == 5) summary = r.string();
    }
    if (summary.empty()) continue;
    wire::ProtoReader values(summary);
    values.next();
    wire::ProtoReader value = values.message();
    value.next();
    out[value.string() + "@" + step] = summary;
  }
  return out;
}

SummaryEvent find(const std::vector<SummaryEvent>& events, const std::string& tag) {
  for (const auto& e : events) {
    if (e.tag == tag) return e;
  }
  FAIL("no event " << tag);
  return {};
}

// What make.py tells TensorFlow.
std::string write_same(const std::string& folder) {
  SummaryWriter w(folder);
  w.scalar("loss", 0.5, 1);
  w.scalar("loss", 0.25, 2);
  w.text("note", "hello *world*", 3);
  w.histogram("weights", Tensor{1.f, 2.f, 2.5f, 4.f, 11.f}, 4, 5);
  w.histogram("same", Tensor{3.f, 3.f}, 4, 3);
  w.histogram("empty", Tensor::of<float>({0}, std::vector<float>()), 4, 3);
  std::vector<uint8_t> pixels(24);
  for (size_t i = 0; i < 24; ++i) pixels[i] = uint8_t(i);
  w.image("pixels", Tensor::of<uint8_t>({1, 2, 4, 3}, pixels), 5);
  w.image("half", Tensor::of<float>({2, 2, 1}, {0.f, 0.25f, 0.5f, 1.5f}), 5);
  w.graph_def("", 0);
  w.close();
  CHECK(contains(error_of([&] { w.scalar("loss", 1, 6); }), "is closed"));
  return w.path();
}

}  // namespace

TEST_CASE("our summaries are TensorFlow's, byte for byte") {
  const Scratch scratch;
  const auto ours = raw_summaries(write_same(scratch("a/b"))), theirs = raw_summaries(kGolden);
  REQUIRE(ours.size() == theirs.size());
  for (const auto& [key, bytes] : theirs) {
    REQUIRE(ours.count(key));
    if (key != "pixels@5" && key != "half@5") CHECK_MESSAGE(ours.at(key) == bytes, key);
  }
  const auto a = read_events(scratch("a/b")), b = read_events(kGolden);
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].tag == b[i].tag);
    CHECK(a[i].step == b[i].step);
    CHECK(a[i].plugin == b[i].plugin);
  }
  // PNG files may be packed otherwise; what they show is the same.
  for (const char* tag : {"pixels", "half"}) {
    const auto mine = find(a, tag).value.strings(), tf = find(b, tag).value.strings();
    CHECK(std::vector(mine.begin(), mine.begin() + 2) == std::vector(tf.begin(), tf.begin() + 2));
    CHECK(data::decode_image(mine[2]).to_vector<uint8_t>() == data::decode_image(tf[2]).to_vector<uint8_t>());
  }
}

TEST_CASE("event files are named and begun as TensorBoard wants them") {
  const Scratch scratch;
  SummaryWriter a(scratch.folder), b(scratch.folder);
  CHECK(a.path() != b.path());
  CHECK(contains(a.path(), scratch("events.out.tfevents.")));
  CHECK(a.path().ends_with(".v2"));
  const auto first = data::read_tfrecords(a.path());
  REQUIRE(first.size() == 1);
  CHECK(contains(first[0], "brain.Event:2"));
  a.scalar("x", 1, 1);
  CHECK(read_events(a.path()).empty());  // held back
  a.flush();
  CHECK(read_events(a.path()).size() == 1);
  for (int i = 0; i < 11; ++i) b.scalar("x", i, i);
  CHECK(read_events(b.path()).size() == 11);
  CHECK(contains(error_of([&] { SummaryWriter(scratch.folder, {.filename_suffix = "/../x"}); }), "has no '/'"));
  CHECK(contains(error_of([&] { SummaryWriter("/proc/none/such"); }), "/proc/none"));
  CHECK(contains(error_of([&] { a.scalar("", 1, 1); }), "a tag is a text in UTF-8"));
  CHECK(contains(error_of([&] { a.scalar("\xff", 1, 1); }), "a tag is a text in UTF-8"));
  a.scalar("größe/日本 𝛼", 1, 1);
  CHECK(contains(error_of([&] { a.image("i", Tensor{1.f}, 0); }), "not [1]"));
  a.histogram("h", Tensor{1.f, NAN, INFINITY, 3.f}, 0, 2);
  a.flush();
  CHECK(find(read_events(a.path()), "h").value.to_vector<double>() == std::vector<double>{1, 2, 1, 2, 3, 1});
}

TEST_CASE("many threads write one file") {
  const Scratch scratch;
  SummaryWriter w(scratch.folder);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) w.scalar("t" + std::to_string(t), i, i);
    });
  }
  for (auto& t : threads) t.join();
  w.close();
  std::map<std::string, int64_t> next;
  for (const auto& e : read_events(scratch.folder)) CHECK(e.step == next[e.tag]++);
  CHECK(next.size() == 4);
  CHECK(next["t0"] == 200);
}

TEST_CASE("event files cut off or bent") {
  const Scratch scratch;
  const std::string whole = data::read_file(kGolden);
  data::write_file(scratch("cut"), whole.substr(0, whole.size() - 3));
  CHECK(read_events(scratch("cut")).size() + 1 == read_events(kGolden).size());
  std::string bent = whole;
  bent[whole.size() / 2] ^= 1;
  data::write_file(scratch("bent"), bent);
  CHECK(contains(error_of([&] { read_events(scratch("bent")); }), scratch("bent") + ": corrupted record at"));
  bend(whole, 500, false, [&](const std::string& b) {
    data::write_file(scratch("b"), b);
    read_events(scratch("b"));
  });
  // With right checksums, so that the messages are reached.
  const auto records = data::read_tfrecords(kGolden);
  for (const std::string& record : records) {
    bend(record, 60, false, [&](const std::string& b) {
      data::TFRecordWriter w(scratch("c"));
      w.write(b);
      w.close();
      read_events(scratch("c"));
    });
  }
}
