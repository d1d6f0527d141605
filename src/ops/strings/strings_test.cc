// Empty texts, places counted from the end, bytes that are no UTF-8. Results and messages are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;
using weft_engine::core::DType;

namespace {

using Texts = std::vector<std::string>;

Tensor texts(const Texts& v) { return Tensor::of_strings({int64_t(v.size())}, v); }
Texts text_list(const Tensor& t) { return t.strings(); }

}  // namespace

TEST_CASE("shapes of texts") {
  const auto first = constant<int32_t>({0});
  CHECK(shapes_of("StringSplitV2", {{DType::kString, {-1}}, {DType::kString, scalar()}}) == "[?,2] [?] [2]");
  CHECK(shapes_of("Substr", {{DType::kString, {-1, 2}}, {DType::kInt32, {2}}, {DType::kInt32, {2}}}) == "[?,2]");
  CHECK(shapes_of("UnicodeDecode", {{DType::kString, {3}}}, {{"input_encoding", std::string("UTF-8")}}) == "[4] [?]");
  CHECK(shapes_of("ReduceJoin", {{DType::kString, {-1, 2}}, {DType::kInt32, {1}, &first}}, {{"keep_dims", true}}) == "[1,2]");
  CHECK(shapes_of("StringJoin", {{DType::kString, {-1}}, {DType::kString, scalar()}}) == "[?]");
}

TEST_CASE("texts that say no number, no pattern, no place") {
  CHECK(says(error_of([] { Call("Substr").in(texts({"hello"})).in(Tensor{6}).in(Tensor{1}).one(); }),
             "pos 6 out of range for string b'hello' at index 0"));
  CHECK(says(error_of([] { Call("StringToNumber").in(texts({"1.5x"})).one(); }), "StringToNumberOp could not correctly convert string: 1.5x"));
  CHECK(
      says(error_of([] { Call("RegexReplace").in(texts({"a"})).in(Tensor("(")).in(Tensor("b")).one(); }), "Invalid pattern: (, error: missing ): ("));
  CHECK(says(error_of([] { Call("StringJoin").in(std::vector<Tensor>{texts({"a", "b"}), texts({"c", "d", "e"})}).one(); }),
             "Input shapes do not match: [2] vs. [3]"));
  CHECK(says(error_of([] { Call("DecodeBase64").in(Tensor("a*b")).one(); }), "Invalid character found in base64."));
  CHECK(says(error_of([] {
               Call("UnicodeDecode")
                   .in(texts({"a\xff"
                              "b"}))
                   .attr("input_encoding", "UTF-8")
                   .attr("errors", "strict")
                   .run();
             }),
             "Invalid formatting on input string"));
}

TEST_CASE("splits at separators and at spaces") {
  const auto commas = Call("StringSplitV2").in(texts({"a,,b", "", " x "})).in(Tensor(",")).run();
  CHECK(list<int64_t>(commas[0]) == Longs{0, 0, 0, 1, 0, 2, 1, 0, 2, 0});
  CHECK(text_list(commas[1]) == Texts{"a", "", "b", "", " x "});
  CHECK(list<int64_t>(commas[2]) == Longs{3, 3});
  const auto spaces = Call("StringSplitV2").in(texts({"  a  b ", ""})).in(Tensor("")).run();
  CHECK(text_list(spaces[1]) == Texts{"a", "b"});
  CHECK(list<int64_t>(spaces[2]) == Longs{2, 2});
}

TEST_CASE("places from the end, characters, replacements, hashes") {
  CHECK(text_list(Call("Substr").in(texts({"hello", "world"})).in(Tensor{-3, 1}).in(Tensor{2, 100}).one()) == Texts{"ll", "orld"});
  CHECK(text_list(Call("Substr").in(texts({"äöü"})).in(Tensor{1}).in(Tensor{1}).attr("unit", "UTF8_CHAR").one()) == Texts{"ö"});
  const auto decoded = Call("UnicodeDecode")
                           .in(texts({"a\xff"
                                      "b",
                                      ""}))
                           .attr("input_encoding", "UTF-8")
                           .attr("errors", "replace")
                           .run();
  CHECK(list<int64_t>(decoded[0]) == Longs{0, 3, 3});
  CHECK(list<int32_t>(decoded[1]) == Ints{'a', 0xFFFD, 'b'});
  CHECK(text_list(Call("RegexReplace").in(texts({"aXbX"})).in(Tensor("X")).in(Tensor("\\0\\0")).attr("replace_global", false).one()) ==
        Texts{"aXXbX"});
  CHECK(list<int64_t>(Call("StringToHashBucketFast").in(texts({"", "a"})).attr("num_buckets", 1000).one()) == Longs{263, 939});
  CHECK(text_list(Call("AsString").in(Tensor{1.5f, -0.f, NAN}).attr("precision", 2).one()) == Texts{"1.50", "-0.00", "nan"});
}
