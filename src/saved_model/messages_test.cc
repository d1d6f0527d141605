// The messages of SavedModels and checkpoints. The bytes are TensorFlow's (nested_structure_coder.encode_structure, tf.train.Checkpoint.write,
// tf.saved_model.save), so that what is read and written again must be the same.
#include <doctest/doctest.h>

#include "saved_model/meta_graph.h"
#include "saved_model/object_graph.h"
#include "saved_model/restore_graph.h"

using namespace weft_engine::saved_model;  // NOLINT

namespace {

std::string unhex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) out += char(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return out;
}

// P([1, -2, True, None, 's', 0.5, TensorShape([None, 3]), tf.float32], {'k': TensorSpec([2], int32, 'x'), 'r': RaggedTensorSpec([None, None], float32),
// 't': (SparseTensorSpec([3], int64),)}), P a named tuple of a and b.
const char kStructure[] =
    "b203f4010a015012430a0161123e9a033b0a0260020a0260030a0270010a020a000a036a01730a0959000000000000e03f0a14fa0111120b08ffffffffffffffffff01120208030a"
    "0380"
    "020112a9010a016212a301aa039f010a130a016b120e8a020b0a017812041202080218030a500a0172124b92024808031230a2032d0a1dfa011a120b08ffffffffffffffffff0112"
    "0b08"
    "ffffffffffffffffff010a038002010a0260020a038002091a1052616767656454656e736f725370656320020a360a01741231a2032e0a2c92022908011211a2030e0a07fa010412"
    "0208"
    "030a038002091a1053706172736554656e736f72537065632003";

// Checkpoint(**{'a.b': n, 'm': m, 'opt': MomentumOptimizer}) with m.v, m.parts = [p, n] and the optimiser's slot of v.
const char kTrackables[] =
    "0a1d0a0708011203612e620a05080212016d0a07080312036f70742a0208010a022a000a160a0508041201760a090805120570617274732a0208010a141a0e080412086d6f6d656e"
    "7475"
    "6d18072a0208010a3912330a0e5641524941424c455f56414c55451201761a1e6d2f762f2e415454524942555445532f5641524941424c455f56414c55452a0208010a120a050806"
    "1201"
    "300a0508011201312a0208010a3f12390a0e5641524941424c455f56414c55451201701a246d2f70617274732f302f2e415454524942555445532f5641524941424c455f56414c55"
    "452a"
    "0208010a5f12590a0e5641524941424c455f56414c5545120a762f4d6f6d656e74756d1a3b6d2f762f2e4f5054494d495a45525f534c4f542f6f70742f6d6f6d656e74756d2f2e41"
    "5454"
    "524942555445532f5641524941424c455f56414c55452a020801";

}  // namespace

TEST_CASE("a structured value of TensorFlow is read, shown and written as it was") {
  const std::string bytes = unhex(kStructure);
  const auto v = decode_structured_value(bytes);
  REQUIRE(v.ok());
  CHECK(encode_structured_value(*v) == bytes);
  const auto& a = v->items[0].second;
  CHECK(a.to_string() == "[1, -2, True, None, 's', 0.5, TensorShape((None, 3)), tf.float32]");
  std::vector<Leaf> leaves;
  REQUIRE(flatten(*v, "", leaves).ok());
  REQUIRE(leaves.size() == 6);  // a tensor, two of the ragged and three of the sparse one
  CHECK(leaves[0].path == "b.k");
  CHECK(leaves[5].path == "b.t.0.2");
  CHECK_FALSE(decode_structured_value(bytes.substr(0, bytes.size() - 1)).ok());
}

TEST_CASE("the object graph of a checkpoint is read and written as it was, and its keys are made") {
  const std::string bytes = unhex(kTrackables);
  const auto nodes = decode_trackables(bytes);
  REQUIRE(nodes.ok());
  CHECK(encode_trackables(*nodes) == bytes);
  const std::vector<std::string> paths = trackable_paths(*nodes);
  for (size_t i = 0; i < nodes->size(); ++i) {
    for (const auto& value : (*nodes)[i].values) CHECK(value_key(paths[i], value.name) == value.key);
  }
  CHECK(paths[1] == "a..b");
  CHECK(readable_names(*nodes)[7] == "(root).opt's state 'momentum' for (root).m.v");
  CHECK_FALSE(decode_trackables(unhex("0a070a050805120161")).ok());  // a child that is not there
}

TEST_CASE("slot variables are given when optimiser and variable have objects") {
  RestoreGraph g(*decode_trackables(unhex(kTrackables)));
  CHECK(g.unresolved() == std::vector<int>{4, 6, 7});
  CHECK(g.open_optimizers() == std::vector<int>{3});
  g.set_matched(3);
  CHECK(g.take_ready_slots(3).empty());
  g.set_matched(4);
  const auto ready = g.take_ready_slots(4);
  REQUIRE(ready.size() == 1);
  CHECK(ready[0].optimizer == 3);
  CHECK(ready[0].slot->variable == 7);
  CHECK(g.take_ready_slots(3).empty());
  CHECK(g.unresolved() == std::vector<int>{6, 7});
  CHECK_FALSE(g.awaited(1));  // nothing of it is in the checkpoint
  CHECK(g.awaited(5));
  const RestoreGraph without(*decode_trackables(unhex(kTrackables)), true);
  CHECK(without.unresolved() == std::vector<int>{4, 6});
  CHECK(without.open_optimizers().empty());
}

TEST_CASE("the objects of TensorFlow's SavedModels are read and written as they were") {
  for (const char* dir : {"tests/python/data/model", "tests/python/data/model_gradient"}) {
    CAPTURE(dir);
    const auto graphs = read_saved_model(dir);
    REQUIRE(graphs.ok());
    const auto objects = decode_object_graph((*graphs)[0].object_graph);
    REQUIRE(objects.ok());
    // TensorFlow writes the functions in no order, and fields that are not read here; so what is written is read again.
    const auto again = decode_object_graph(encode_object_graph(*objects));
    REQUIRE(again.ok());
    REQUIRE(again->nodes.size() == objects->nodes.size());
    for (size_t i = 0; i < objects->nodes.size(); ++i) {
      const SavedObject &a = objects->nodes[i], &b = again->nodes[i];
      CHECK(a.kind == b.kind);
      CHECK(a.children == b.children);
      CHECK(a.name == b.name);
      CHECK(a.concrete_functions == b.concrete_functions);
      CHECK(a.saveables == b.saveables);
      CHECK(encode_structured_value(a.spec.arg_spec) == encode_structured_value(b.spec.arg_spec));
      CHECK(a.dtype == b.dtype);
      CHECK(a.trainable == b.trainable);
    }
    REQUIRE(again->concrete_functions.size() == objects->concrete_functions.size());
    for (const auto& [name, f] : objects->concrete_functions) {
      CHECK(again->concrete_functions.at(name).bound_inputs == f.bound_inputs);
      CHECK(encode_structured_value(again->concrete_functions.at(name).inputs) == encode_structured_value(f.inputs));
    }
  }
}
