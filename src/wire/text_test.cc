// Schema, text form and JSON against what protobuf says (tests/files/text, made by make_text.py), and hostile input.
#include <doctest/doctest.h>

#include <map>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <sstream>

#include "wire/cpp_text.h"
#include "wire/message_view.h"
#include "wire/schema.h"
#include "wire/text_format.h"
#include "wire/text_util.h"

using namespace weft_engine::wire;  // NOLINT
using weft_engine::core::cat;
using weft_engine::core::Code;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Rows of strings, each behind its length.
std::vector<std::vector<std::string>> read_rows(const std::string& path, size_t columns) {
  const std::string data = read_file(path);
  std::vector<std::vector<std::string>> rows;
  for (size_t at = 0; at < data.size();) {
    auto& row = rows.emplace_back();
    for (size_t c = 0; c < columns; ++c) {
      uint32_t n;
      REQUIRE(data.size() - at >= 4);
      std::memcpy(&n, data.data() + at, 4);
      REQUIRE(data.size() - at - 4 >= n);
      row.push_back(data.substr(at + 4, n));
      at += 4 + n;
    }
  }
  return rows;
}

std::string dash(std::string_view s) { return s.empty() ? "-" : std::string(s); }

// The schema in the form of schema.txt.
std::string describe(const Schema& schema) {
  std::map<std::string, std::string> out;
  std::map<std::string, EnumDef> enums;
  for (int i = 0; i < int(schema.messages().size()); ++i) {
    const MessageDef m(&schema, i);
    std::string reserved, fields;
    for (const FieldRow& row : m.fields()) {
      const FieldDef f = m.field(row);
      if (!f.number()) {
        reserved += cat(reserved.empty() ? "" : ",", f.name());
        continue;
      }
      const bool is_message = f.type() == FieldType::kMessage, is_enum = f.type() == FieldType::kEnum;
      if (is_enum) enums[std::string(f.enumeration().name())] = f.enumeration();
      fields += cat(" ", f.number(), " ", f.name(), " ", int(f.type()), " ",
                    f.repeated()       ? "repeated"
                    : f.has_presence() ? "present"
                                       : "single",
                    " ", f.packed() ? "packed" : "-", " ", dash(f.oneof()), " ",
                    is_message ? std::string(f.message().name())
                    : is_enum  ? std::string(f.enumeration().name())
                               : "-",
                    "\n");
      CHECK(m.find(f.name()) == f);
      CHECK(m.find(f.number()) == f);
    }
    out[std::string(m.name())] = cat("message ", m.name(), m.map_entry() ? " map " : " - ", dash(reserved), "\n", fields);
    CHECK(schema.find(m.name()).name() == m.name());
  }
  CHECK(enums.size() == schema.enums().size());
  for (auto& [name, e] : enums) {
    std::string values;
    for (const ValueRow& v : e.values()) values += cat(" ", v.number, " ", e.value_name(v), "\n");
    out[name] = cat("enum ", name, "\n", values);
  }
  std::string text;
  for (auto& [name, t] : out) text += t;
  return text;
}

}  // namespace

TEST_CASE("proto/ says of every message what TensorFlow's descriptors say") {
  std::istringstream ours(describe(Schema::builtin())), theirs(read_file("tests/files/text/schema.txt"));
  std::string a, b;
  int line = 0;
  while (std::getline(theirs, b)) {
    ++line;
    REQUIRE_MESSAGE(std::getline(ours, a), "ours ends at line ", line);
    REQUIRE_MESSAGE(a == b, "line ", line);
  }
  CHECK_FALSE(std::getline(ours, a));
  CHECK(line > 1200);
}

TEST_CASE("what is not there is not found") {
  const Schema& s = Schema::builtin();
  CHECK_FALSE(s.find(""));
  CHECK_FALSE(s.find("GraphDef"));
  CHECK_FALSE(s.find("tensorflow.Zzz"));
  const MessageDef graph = s.find("tensorflow.GraphDef");
  REQUIRE(graph);
  CHECK_FALSE(graph.find("nodes"));
  CHECK_FALSE(graph.find(0));
  CHECK_FALSE(graph.find(99));
  CHECK_FALSE(graph.find(-1));
  CHECK(s.find("tensorflow.GraphOptions").is_reserved("skip_common_subexpression_elimination"));
  CHECK(binary_to_text("tensorflow.Nothing", "").status().code() == Code::kInvalidArgument);
}

TEST_CASE("messages print and read as protobuf prints and reads them") {
  const auto rows = read_rows("tests/files/text/messages.bin", 4);
  CHECK(rows.size() > 250);
  for (const auto& row : rows) {
    const auto text = binary_to_text(row[0], row[1]), json = binary_to_json(row[0], row[1]), back = text_to_binary(row[0], row[2]);
    REQUIRE_MESSAGE(text.ok(), row[0], ": ", text.status().message());
    REQUIRE_MESSAGE(json.ok(), row[0], ": ", json.status().message());
    REQUIRE_MESSAGE(back.ok(), row[0], ": ", back.status().message(), "\n", row[2]);
    CHECK_MESSAGE(*text == row[2], row[0]);
    CHECK_MESSAGE(*json == row[3], row[0]);
    CHECK_MESSAGE(*back == row[1], row[0], "\n", row[2]);
  }
}

TEST_CASE("texts are taken and refused as TensorFlow takes and refuses them, with its words and places") {
  const auto rows = read_rows("tests/files/text/parse.bin", 3);
  CHECK(rows.size() > 140);
  for (const auto& row : rows) {
    const auto got = text_to_binary("tensorflow.ServerDef", row[0]);
    if (row[2].empty()) {
      REQUIRE_MESSAGE(got.ok(), row[0], "\n", got.status().message());
      CHECK_MESSAGE(*got == row[1], row[0]);
    } else {
      REQUIRE_MESSAGE(!got.ok(), row[0]);
      CHECK(got.status().code() == Code::kInvalidArgument);
      CHECK_MESSAGE(got.status().message() == row[2], row[0]);
    }
  }
}

TEST_CASE("an Any opens where its type is known") {
  const std::string text = "meta_info_def {\n  any_info {\n    [type.googleapis.com/tensorflow.NodeDef] {\n      name: \"a\"\n    }\n  }\n}\n";
  const auto bytes = text_to_binary("tensorflow.MetaGraphDef", text);
  REQUIRE(bytes.ok());
  CHECK(*binary_to_text("tensorflow.MetaGraphDef", *bytes) == text);
  CHECK(text_to_binary("tensorflow.MetaGraphDef", "meta_info_def { any_info { [a/tensorflow.NodeDef]: < name: 'a' > } }").ok());
  CHECK(text_to_binary("tensorflow.MetaGraphDef", "meta_info_def { any_info { [a/no.Such] {} } }")
            .status()
            .message()
            .ends_with("1:40: Could not find type \"a/no.Such\" stored in google.protobuf.Any."));
  const auto plain = text_to_binary("tensorflow.MetaGraphDef", "meta_info_def { any_info { type_url: 'a/no.Such' value: '\\001' } }");
  REQUIRE(plain.ok());
  CHECK(*binary_to_text("tensorflow.MetaGraphDef", *plain) ==
        "meta_info_def {\n  any_info {\n    type_url: \"a/no.Such\"\n    value: \"\\001\"\n  }\n}\n");
  CHECK(binary_to_json("tensorflow.MetaGraphDef", *plain)->find("\"value\": \"AQ==\"") != std::string::npos);
}

TEST_CASE("the wire is merged as protobuf merges it") {
  ProtoWriter versions_a, versions_b, w;
  versions_a.varint(1, 5);
  versions_a.varint(2, 1);
  versions_b.varint(1, 7);
  w.message(4, versions_a);
  w.varint(3, 4);
  w.varint(3, 0);  // the last one counts, and a zero is not there
  w.message(4, versions_b);
  CHECK(*binary_to_text("tensorflow.GraphDef", w.str()) == "versions {\n  producer: 7\n  min_consumer: 1\n}\n");

  ProtoWriter attr, list;
  list.varint(3, 1);
  attr.message(1, list);
  attr.varint(3, 5);  // i drops list
  attr.message(1, ProtoWriter());
  CHECK(*binary_to_text("tensorflow.AttrValue", attr.str()) == "list {\n}\n");
  attr.varint(5, 0);  // and a zero of a oneof is there
  CHECK(*binary_to_text("tensorflow.AttrValue", attr.str()) == "b: false\n");

  ProtoWriter mixed;  // packed and not
  mixed.varint(3, 1);
  mixed.packed_varints(3, {2, -3});
  CHECK(*binary_to_text("tensorflow.AttrValue.ListValue", mixed.str()) == "i: 1\ni: 2\ni: -3\n");

  ProtoWriter entry_a, entry_b, map;
  entry_a.bytes(1, "x");
  entry_a.varint(2, 1);
  entry_b.bytes(1, "x");
  map.message(1, entry_a);
  map.message(1, entry_b);  // the last entry of a key counts
  CHECK(*binary_to_text("tensorflow.ConfigProto", map.str()) == "device_count {\n  key: \"x\"\n}\n");
  CHECK(*binary_to_cpp_text("tensorflow.ConfigProto", map.str()) == "device_count {\n  key: \"x\"\n  value: 0\n}\n");
  CHECK(*binary_to_json("tensorflow.ConfigProto", map.str()) == "{\n  \"deviceCount\": {\n    \"x\": 0\n  }\n}");

  ProtoWriter empty;  // an entry of which nothing is there: what TensorFlow's Python prints
  empty.message(2, ProtoWriter());
  CHECK(*binary_to_text("tensorflow.GraphDebugInfo", empty.str()) == "traces {\n  key: \"\"\n  value {\n  }\n}\n");
  CHECK(*binary_to_text("tensorflow.SavedObjectGraph", empty.str()) == "concrete_functions {\n  value {\n  }\n}\n");
  ProtoWriter count;
  count.message(1, ProtoWriter());
  CHECK(*binary_to_text("tensorflow.ConfigProto", count.str()) == "device_count {\n}\n");
}

TEST_CASE("numbers as C++ prints them") {  // by protobuf's own library, as TensorFlow has it
  for (const auto& [value, text] : {std::pair(1.0f, "1"),
                                    {0.1f, "0.1"},
                                    {1e-5f, "1e-05"},
                                    {16777216.0f, "16777216"},
                                    {1e10f, "1e+10"},
                                    {123456792.0f, "123456792"},
                                    {3.14159274f, "3.14159274"},
                                    {-0.0f, "-0"},
                                    {INFINITY, "inf"},
                                    {1.17549435e-38f, "1.17549435e-38"},
                                    {0.30000001f, "0.3"}}) {
    ProtoWriter w;
    w.float32(4, value);
    CHECK(*binary_to_cpp_text("tensorflow.AttrValue", w.str()) == cat("f: ", text, "\n"));
  }
  for (const auto& [value, text] : {std::pair(1.0, "1"),
                                    {0.1, "0.1"},
                                    {1e15, "1e+15"},
                                    {123456789.123, "123456789.123"},
                                    {3.141592653589793, "3.1415926535897931"},
                                    {0.30000000000000004, "0.30000000000000004"},
                                    {1e6, "1000000"}}) {
    ProtoWriter w;
    w.float64(1, value);
    CHECK(*binary_to_cpp_text("tensorflow.GPUOptions", w.str()) == cat("per_process_gpu_memory_fraction: ", text, "\n"));
  }
}

TEST_CASE("fields that the schema does not know are printed by number") {
  ProtoWriter inner, w;
  inner.varint(1, 150);
  w.varint(1000, 3);
  w.message(1001, inner);
  w.bytes(1002, "\xff");
  w.fixed64(1003, 1);
  w.float32(1004, 1.0f);
  w.bytes(1, "wrong type is another matter");
  CHECK(*binary_to_text("tensorflow.VersionDef", w.str()) ==
        "1000: 3\n1001 {\n  1: 150\n}\n1002: \"\\377\"\n1003: 0x0000000000000001\n1004: 0x3f800000\n1: \"wrong type is another matter\"\n");
}

TEST_CASE("text that nests too deeply is refused, and so are bytes") {
  for (auto [open, close] : {std::pair("args {", "}"), std::pair("args <", ">"), std::pair("args: [{", "}]")}) {
    std::string good = "s: 'x'", bad;
    for (int i = 0; i < kMaxMessageDepth - 1; ++i) good = cat(open, good, close);
    CHECK(text_to_binary("tensorflow.FullTypeDef", good).ok());
    bad = cat(open, good, close);
    CHECK(text_to_binary("tensorflow.FullTypeDef", bad).status().code() == Code::kInvalidArgument);
  }
  std::string endless;
  for (int i = 0; i < 100'000; ++i) endless += "args{";
  CHECK(text_to_binary("tensorflow.FullTypeDef", endless).status().code() == Code::kInvalidArgument);
  std::string reserved = "skip_common_subexpression_elimination {";
  for (int i = 0; i < 100'000; ++i) reserved += "a{";
  CHECK(text_to_binary("tensorflow.GraphOptions", reserved).status().code() == Code::kInvalidArgument);

  std::string bytes;
  for (int i = 0; i < kMaxMessageDepth; ++i) {
    ProtoWriter w;
    w.bytes(2, bytes);
    bytes = w.take();
    const bool allowed = i < kMaxMessageDepth - 1;
    CHECK(binary_to_text("tensorflow.FullTypeDef", bytes).ok() == allowed);
    CHECK(binary_to_json("tensorflow.FullTypeDef", bytes).ok() == allowed);
  }
  CHECK(binary_to_text("tensorflow.FullTypeDef", bytes).status().code() == Code::kDataLoss);
}

TEST_CASE("broken bytes and texts give errors or messages, never a crash") {
  const auto rows = read_rows("tests/files/text/messages.bin", 4);
  std::mt19937 random(7);
  int refused = 0;
  for (const auto& row : rows) {
    for (int round = 0; round < 20; ++round) {
      std::string bytes = row[1], text = row[2];
      if (!bytes.empty()) bytes[random() % bytes.size()] = char(random());
      if (!text.empty()) text[random() % text.size()] = "{}<>[]:;,'\"\\-0x#a\n\0"[random() % 19];
      if (round % 4 == 0) bytes.resize(bytes.size() / 2);
      if (round % 4 == 1) text.resize(text.size() / 2);
      const auto printed = binary_to_text(row[0], bytes);
      if (!printed.ok()) CHECK(printed.status().code() == Code::kDataLoss);
      CHECK(binary_to_json(row[0], bytes).ok() == printed.ok());
      const auto read = text_to_binary(row[0], text);
      refused += !read.ok();
      if (!read.ok()) CHECK(read.status().code() == Code::kInvalidArgument);
      else if (const auto again = binary_to_text(row[0], *read); again.ok()) CHECK(*text_to_binary(row[0], *again) == *read);
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("numbers print as Python prints them") {
  auto d = [](double v) {
    std::string s;
    append_double_text(s, v);
    return s;
  };
  auto f = [](float v) {
    std::string s;
    append_float_text(s, v);
    return s;
  };
  CHECK(d(0) == "0.0");
  CHECK(d(-0.0) == "-0.0");
  CHECK(d(1e15) == "1000000000000000.0");
  CHECK(d(1e16) == "1e+16");
  CHECK(d(123456789012345680.0) == "1.2345678901234568e+17");
  CHECK(d(0.0001) == "0.0001");
  CHECK(d(0.00001234) == "1.234e-05");
  CHECK(d(5e-324) == "5e-324");
  CHECK(d(1.7976931348623157e308) == "1.7976931348623157e+308");
  CHECK(f(0.1f) == "0.1");
  CHECK(f(123456789.0f) == "123456790.0");
  CHECK(f(1e-45f) == "1.4013e-45");
  CHECK(f(3.4028235e38f) == "3.4028235e+38");
}
