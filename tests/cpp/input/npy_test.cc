#include "testing.h"
#include "weft/data.h"

using namespace weft;           // NOLINT
using namespace weft::data;     // NOLINT
using namespace weft::testing;  // NOLINT

TEST_CASE("an array comes back from its bytes, and a file cut short or bent never kills") {
  const Scratch scratch;
  const Tensor t{{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}};
  const std::string npy = format_npy(t);
  CHECK(parse_npy(npy, "t").to_vector<float>() == t.to_vector<float>());
  bend(npy, 20000, true, [](const std::string& b) { parse_npy(b, "t"); });
  write_npz(scratch("a/b.npz"), {{"a", t}, {"words", Tensor::of_strings({2}, {"one", "two words"})}});
  const auto back = read_npz(scratch("a/b.npz"));
  REQUIRE(back.size() == 2);
  CHECK(back.at("a").shape() == std::vector<int64_t>{2, 3});
  CHECK(back.at("words").strings() == std::vector<std::string>{"one", "two words"});
  bend(read_file(scratch("a/b.npz")), 20000, true, [](const std::string& b) { parse_npz(b, "z"); });
  CHECK(contains(error_of([&] { read_npy(scratch("none.npy")); }), "none.npy; No such file or directory"));
}

TEST_CASE("what a header may claim is bounded by what is there") {
  const auto with = [](const std::string& header) {
    std::string h = header + "\n", out("\x93NUMPY\x01\x00", 8);
    out += char(h.size() & 255);
    out += char(h.size() >> 8);
    return out + h + "data";
  };
  const auto error = [&](const std::string& header) { return error_of([&] { parse_npy(with(header), "t"); }); };
  CHECK(error("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }") == "no error");
  CHECK(contains(error("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }"), "t: cut off"));
  CHECK(contains(error("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }"), "too many elements"));
  CHECK(contains(error("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"), "too large"));
  CHECK(contains(error("{'descr': '|S0', 'fortran_order': False, 'shape': (9999999999,), }"), "too many elements"));
  CHECK(contains(error("{'descr': '|S-1', 'fortran_order': False, 'shape': (1,), }"), "strings of the length '-1'"));
  CHECK(contains(error("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"), "pickled"));
  CHECK(contains(error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }"), "structured"));
  CHECK(contains(error("{'shape': (1,)"), "header"));
  const Tensor big = parse_npy(with("{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }"), "t");
  CHECK(big.to_vector<uint16_t>() == std::vector<uint16_t>{'d' << 8 | 'a', 't' << 8 | 'a'});
}

TEST_CASE("an archive whose entries share their bytes is refused") {
  const Scratch scratch;
  write_npz(scratch("z.npz"), {{"a", Tensor::of<float>({64}, std::vector<float>(64, 1.f))}});
  std::string bytes = read_file(scratch("z.npz"));
  const size_t dir = bytes.find("PK\1\2"), end = bytes.find("PK\5\6");
  std::string twice = bytes.substr(dir, end - dir);
  twice[twice.size() - 5] = 'b';  // the name of the second
  std::string more = bytes.substr(0, end) + twice + bytes.substr(end);
  const size_t tail = end + twice.size();
  more[tail + 10] = 2;
  const uint32_t size = uint32_t(2 * twice.size());
  for (int i = 0; i < 4; ++i) more[tail + 12 + size_t(i)] = char(size >> (8 * i));
  CHECK(contains(error_of([&] { parse_npz(more, "z"); }), "overlap"));
}

// The sums are numpy's.
TEST_CASE("the digits of the examples") {
  const auto digits = read_npz("examples/data/digits.npz");
  const Tensor images = digits.at("images"), labels = digits.at("labels");
  CHECK(images.shape() == std::vector<int64_t>{1797, 8, 8});
  CHECK(labels.shape() == std::vector<int64_t>{1797});
  int64_t sum = 0;
  for (const uint8_t v : images.data<uint8_t>()) sum += v;
  CHECK(sum == 561718);
  std::vector<int> counts(10);
  for (const int32_t v : labels.data<int32_t>()) ++counts[size_t(v)];
  CHECK(counts == std::vector<int>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180});
}
