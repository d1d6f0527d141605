#include <doctest/doctest.h>

#include <random>

#include "cli/picture.h"
#include "cli/text.h"
#include "cli/value.h"

using namespace weft;       // NOLINT
using namespace weft::cli;  // NOLINT

namespace {

std::string error_of(const auto& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TensorSpec spec(DType dtype) { return {"x", dtype, {}, {}}; }

}  // namespace

TEST_CASE("expressions take the type that is asked for") {
  CHECK(parse_expression(spec(DType::float32), "[[1, 2.5], [3, -4e1]]").to_vector<float>() == std::vector<float>{1, 2.5f, 3, -40});
  CHECK(parse_expression(spec(DType::int64), "9007199254740993").item<int64_t>() == 9007199254740993);
  CHECK(parse_expression(spec(DType::boolean), "[true, False]").to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(parse_expression(spec(DType::string), "[\"a\\n\", 'b c']").strings() == std::vector<std::string>{"a\n", "b c"});
  CHECK(parse_expression(spec(DType::int32), "range(4)").to_vector<int32_t>() == std::vector<int32_t>{0, 1, 2, 3});
  CHECK(parse_expression(spec(DType::float64), "fill(0.5,2)").to_vector<double>() == std::vector<double>{0.5, 0.5});
  CHECK(parse_expression(spec(DType::float16), "ones(2,0,3)").shape() == std::vector<int64_t>{2, 0, 3});
  CHECK(parse_expression(spec(DType::float32), "[]").shape() == std::vector<int64_t>{0});
  CHECK(parse_expression(spec(DType::float32), "[[], []]").shape() == std::vector<int64_t>{2, 0});
  const Tensor random = parse_expression(spec(DType::float32), "random(50)"), integers = parse_expression(spec(DType::int32), "randint(3,50)");
  for (const float v : random.data<float>()) CHECK((v >= 0 && v < 1));
  for (const int32_t v : integers.data<int32_t>()) CHECK((v >= 0 && v < 3));
}

TEST_CASE("expressions that make no sense are told") {
  const auto error = [](DType t, const char* text) { return error_of([&] { parse_expression(spec(t), text); }); };
  CHECK(error(DType::uint8, "300") == "input 'x' is uint8; '300' is out of its range");
  CHECK(error(DType::int32, "1.5") == "input 'x' is int32; '1.5' has a fraction");
  CHECK(error(DType::float32, "\"a\"") == "input 'x' is float; '\"a\"' is text");
  CHECK(error(DType::string, "3").find("put texts in quotes") != std::string::npos);
  CHECK(error(DType::float32, "[1, [2]]").find("nested deeper") != std::string::npos);
  CHECK(error(DType::float32, "[[1, 2], [3]]").find("different length") != std::string::npos);
  CHECK(error(DType::float32, "[1, 2").find("expected ',' or ']'") != std::string::npos);
  CHECK(error(DType::float32, "1 2").find("unexpected text") != std::string::npos);
  CHECK(error(DType::float32, "ones(-1)").find("not negative") != std::string::npos);
  CHECK(error(DType::float32, "ones(9999999,9999999)").find("too many") != std::string::npos);
  CHECK(error(DType::float32, std::string(500, '[').c_str()).find("nested too deeply") != std::string::npos);
  CHECK(error(DType::float32, "") != "no error");
}

TEST_CASE("a picture has no box upon another, and wires lead down") {
  std::vector<NodeInfo> nodes;
  std::mt19937 random(5);
  for (int i = 0; i < 120; ++i) {
    NodeInfo n;
    n.name = (i % 3 ? "scope/n" : "n") + std::to_string(i);
    n.op = "Add";
    n.types = {DType::float32};
    n.shapes = {PartialShape{2, -1}};
    for (int k = 0; k < 2 && i > 0; ++k) n.inputs.push_back(nodes[random() % size_t(i)].name + (k ? ":0" : ""));
    if (i > 4) n.inputs.push_back("^" + nodes[size_t(i) - 3].name);
    nodes.push_back(std::move(n));
  }
  const FindFunction none = [](const std::string&) -> FunctionBody { throw Error(Code::kNotFound, "none"); };
  Picture p = make_picture("test", nodes, none, {.limit = 200});
  REQUIRE(p.boxes.size() == 120);
  lay_out(p);
  for (size_t i = 0; i < p.boxes.size(); ++i) {
    const Box& a = p.boxes[i];
    CHECK((a.x >= 0 && a.y >= 0 && a.x + a.w <= p.w + 1e-6 && a.y + a.h <= p.h + 1e-6));
    for (size_t k = 0; k < i; ++k) {
      const Box& b = p.boxes[k];
      CHECK((a.x + a.w <= b.x + 1e-6 || b.x + b.w <= a.x + 1e-6 || a.y + a.h <= b.y + 1e-6 || b.y + b.h <= a.y + 1e-6));
    }
  }
  for (const Wire& w : p.wires) CHECK(w.points.front().y < w.points.back().y);
  CHECK(to_svg(p).find("float [2,?]") != std::string::npos);
  const Picture collapsed = make_picture("test", nodes, none, {.limit = 50});
  CHECK(collapsed.boxes.size() == 41);  // 40 nodes outside, and the scope
}

TEST_CASE("text for other programs is well formed whatever names hold") {
  Json j;
  j.begin_object().key("a\"b").value("line\n\x01\xb8 \xc3\xa9").key("list").begin_array().value(1).value(true).null().end_array().end_object();
  CHECK(j.str() == "{\n  \"a\\\"b\": \"line\\u000a\\u0001? \xc3\xa9\",\n  \"list\": [\n    1,\n    true,\n    null\n  ]\n}\n");
  CHECK(xml("<a & \"b\">\x02\xff") == "&lt;a &amp; &quot;b&quot;&gt;?");
}
