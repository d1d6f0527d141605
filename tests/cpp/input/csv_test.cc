#include <zlib.h>

#include <cmath>

#include "testing.h"
#include "weft/data.h"

using namespace weft;           // NOLINT
using namespace weft::data;     // NOLINT
using namespace weft::testing;  // NOLINT

namespace {

std::string error(const std::string& text, const CsvOptions& options = {}) {
  return error_of([&] { parse_csv(text, "f.csv", options); });
}

std::string gzip(const std::string& bytes) {
  std::string out(bytes.size() + 100, '\0');
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = uInt(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = uInt(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

}  // namespace

TEST_CASE("columns get the type that all their values have") {
  const Csv t = parse_csv("age,height,name,big\r\n41,1.75,\"Ada, \"\"the\"\" first\",9007199254740993\r\n-7,2,\"two\nlines\",0\n\n", "f.csv");
  CHECK(t.names == std::vector<std::string>{"age", "height", "name", "big"});
  CHECK(t.rows() == 2);
  CHECK(t["age"].to_vector<int64_t>() == std::vector<int64_t>{41, -7});
  CHECK(t["height"].to_vector<float>() == std::vector<float>{1.75f, 2});
  CHECK(t["name"].strings() == std::vector<std::string>{"Ada, \"the\" first", "two\nlines"});
  CHECK(t["big"].data<int64_t>()[0] == 9007199254740993);
  CHECK(contains(error_of([&] { t["weight"]; }), "there is no column 'weight'; there are: age, height, name, big"));
  CHECK(t.matrix({"height", "age"}).to_vector<float>() == std::vector<float>{1.75f, 41, 2, -7});
  CHECK(t.matrix({"age"}, DType::int32).shape() == std::vector<int64_t>{2, 1});
  CHECK(contains(error_of([&] { t.matrix(); }), "column 'name' holds string"));
}

TEST_CASE("missing values") {
  const Csv t = parse_csv("a;b;c;d\n1;NA;;x\n;2.5;3;\n", "f", {.delimiter = ';'});
  CHECK(t["a"].dtype() == DType::float32);
  CHECK(std::isnan(t["a"].data<float>()[1]));
  CHECK(std::isnan(t["b"].data<float>()[0]));
  CHECK(t["d"].strings() == std::vector<std::string>{"x", ""});
  const Csv filled = parse_csv("a,b\n1,\"\"\n,y\n", "f", {.fill = {{"a", "-1"}}});
  CHECK(filled["a"].to_vector<int64_t>() == std::vector<int64_t>{1, -1});
  CHECK(filled["b"].strings() == std::vector<std::string>{"", "y"});
  CHECK(parse_csv("a\n123456789\nNA\n", "f")["a"].dtype() == DType::float64);
  CHECK(error("a\n1\nNA\n", {.types = {{"a", DType::int32}}}) == "f.csv:3: column 'a' has no value here, and nothing to fill in");
}

TEST_CASE("names and types that are given") {
  const Csv t = parse_csv("1,0\n2,true\n", "f",
                          {.header = false, .names = {"n", "yes"}, .select = {"yes", "n"}, .types = {{"n", DType::uint8}, {"yes", DType::boolean}}});
  CHECK(t.names == std::vector<std::string>{"yes", "n"});
  CHECK(t["n"].to_vector<uint8_t>() == std::vector<uint8_t>{1, 2});
  CHECK(t["yes"].to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(parse_csv("1,2\n", "f", {.header = false}).names == std::vector<std::string>{"0", "1"});
  CHECK(parse_csv("\xEF\xBB\xBFx\n1e400\n-1e-60", "f", {.types = {{"x", DType::float32}}})["x"].size() == 2);
  CHECK(parse_csv("x,y\n", "f").rows() == 0);
}

TEST_CASE("errors name the file, the line and the column") {
  CHECK(error("a,b\n1,2\n\n3\n") == "f.csv:4: 1 values where there are 2 columns");
  CHECK(error("a\n\"x\n\ny") == "f.csv:2: a quote is opened and never closed");
  CHECK(error("a\n\"x\"y\n") == "f.csv:2: a closing quote is followed by 'y'; quotes inside quotes are doubled");
  CHECK(error("a\n1\ntwo\n", {.types = {{"a", DType::int64}}}) == "f.csv:3: column 'a': 'two' is not an int64");
  CHECK(error("a\n300\n", {.types = {{"a", DType::uint8}}}) == "f.csv:2: column 'a': '300' is not a uint8");
  CHECK(error("a,a\n1,2\n") == "f.csv: two columns are named 'a'; give names");
  CHECK(contains(error("", {}), "f.csv: the file is empty"));
  CHECK(contains(error("a\n1\n", {.select = {"b"}}), "f.csv: there is no column 'b'; there are: a"));
  CHECK(contains(error("a\n1\n", {.types = {{"a", DType::complex64}}}), "cannot be of type complex64"));
}

TEST_CASE("a CSV file, packed or not, cut short or bent") {
  const Scratch scratch;
  std::string text = "x,y,name\n";
  for (int i = 0; i < 50; ++i) text += std::to_string(i) + "," + std::to_string(0.5 * i) + ",\"n\"\"" + std::to_string(i) + "\"\n";
  write_file(scratch("a.csv"), text);
  CHECK(read_csv(scratch("a.csv")).rows() == 50);
  const std::string packed = gzip(text);
  write_file(scratch("a.csv.gz"), packed);
  CHECK(read_csv(scratch("a.csv.gz"))["y"].data<float>()[49] == 24.5f);
  write_file(scratch("cut.csv.gz"), packed.substr(0, packed.size() / 2));
  CHECK(contains(error_of([&] { read_csv(scratch("cut.csv.gz")); }), "cut.csv.gz: the compressed data are cut off"));
  bend(text, 5000, false, [](const std::string& b) { parse_csv(b, "f"); });
  bend(packed, 300, false, [&](const std::string& b) {
    write_file(scratch("b.csv.gz"), b);
    read_csv(scratch("b.csv.gz"));
  });
}

TEST_CASE("IDX files") {
  const Scratch scratch;
  const std::string small("\0\0\x0B\2\0\0\0\2\0\0\0\1\x01\x02\xFF\xFE", 16);
  write_file(scratch("a"), small);
  const Tensor t = read_idx(scratch("a"));
  CHECK(t.shape() == std::vector<int64_t>{2, 1});
  CHECK(t.to_vector<int16_t>() == std::vector<int16_t>{258, -2});
  write_file(scratch("a.gz"), gzip(small));
  CHECK(read_idx(scratch("a.gz")).to_vector<int16_t>() == std::vector<int16_t>{258, -2});
  bend(small, 500, true, [&](const std::string& b) {
    write_file(scratch("b"), b);
    read_idx(scratch("b"));
  });
  bend(gzip(small), 300, true, [&](const std::string& b) {
    write_file(scratch("b"), b);
    read_idx(scratch("b"));
  });
  const auto error = [&](const std::string& bytes) {
    write_file(scratch("e"), bytes);
    return error_of([&] { read_idx(scratch("e")); });
  };
  CHECK(contains(error(std::string("\0\0\x08\2\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12)), "too many elements"));
  CHECK(contains(error(std::string("\0\0\x08\1\0\0\0\3ab", 10)), "cut off: 3 bytes expected, 2 there"));
  CHECK(contains(error(std::string("\0\0\x08\1\0\0\0\1ab", 10)), "more data than the shape needs"));
  CHECK(contains(error("P5 8 8"), "not an IDX file"));
}
