// Devices and texts as TensorFlow 2.21 gives them for the same graphs.
#include "runtime/placer.h"

#include "runtime/testing.h"

using namespace weft_engine;                    // NOLINT
using namespace weft_engine::runtime;           // NOLINT
using namespace weft_engine::runtime::testing;  // NOLINT

namespace {

Status place_on(BodyBuilder& b, const DeviceSet& devices, bool soft) {
  PlaceOptions o;
  o.devices = &devices;
  o.default_device = devices.host();
  o.allow_soft_placement = soft;
  return place(b.body(), o);
}

// "CPU:1" of a node's full name.
std::string where(const Node* n) {
  const std::string prefix = "/job:localhost/replica:0/task:0/device:";
  return n->assigned_device.starts_with(prefix) ? n->assigned_device.substr(prefix.size()) : "?" + n->assigned_device;
}

}  // namespace

TEST_CASE("explicit devices, whole and in part") {
  auto devices = DeviceSet::cpus(3);
  for (const char* name : {"/cpu:2", "/device:CPU:2", "/job:localhost/device:CPU:2", "/job:localhost/replica:0/task:0/device:CPU:2", "CPU:2"}) {
    BodyBuilder b;
    Node* n = b.add("n", "Neg", {b.arg()});
    n->device = name;
    REQUIRE(place_on(b, *devices, false).ok());
    CHECK(where(n) == "CPU:2");
  }
  BodyBuilder b;
  Node* n = b.add("n", "Neg", {b.arg()});
  n->device = "/nonsense";
  CHECK(place_on(b, *devices, true).code() == Code::kInvalidArgument);
}

TEST_CASE("a device that is not there") {
  auto devices = DeviceSet::cpus(3);
  const std::string available =
      " but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0, /job:localhost/replica:0/task:0/device:CPU:1, "
      "/job:localhost/replica:0/task:0/device:CPU:2 ]. Make sure the device specification refers to a valid device.";
  for (auto [asked, shown, more, soft_works] : std::initializer_list<std::tuple<const char*, const char*, const char*, bool>>{
           {"/device:GPU:0", "/device:GPU:0", " The requested device appears to be a GPU, but CUDA is not enabled.", true},
           {"/cpu:7", "/device:CPU:7", "", true},
           {"/device:FOO:0", "/device:FOO:0", "", true},
           {"/job:worker/task:1/cpu:0", "/job:worker/task:1/device:CPU:0", "", false}}) {
    BodyBuilder b;
    Node* add = b.add("add", "Neg", {b.arg()});
    add->device = asked;
    Status s = place_on(b, *devices, false);
    CHECK(s.code() == Code::kInvalidArgument);
    CHECK(s.message() ==
          cat("Cannot assign a device for operation add: {{node add}} was explicitly assigned to ", shown, available, more, "\n\t [[add]]"));
    CHECK(place_on(b, *devices, true).ok() == soft_works);
    if (soft_works) CHECK(where(add) == "CPU:0");
  }
}

TEST_CASE("colocation") {
  auto devices = DeviceSet::cpus(3);
  const AttrMap with_a{{"_class", std::vector<std::string>{"loc:@a"}}};
  {
    BodyBuilder b;
    Node* a = b.add("a", "Identity", {b.arg()});
    Node* c = b.add("c", "Neg", {{a, 0}}, with_a);
    a->device = "/cpu:1";
    REQUIRE(place_on(b, *devices, false).ok());
    CHECK(where(c) == "CPU:1");
  }
  {
    BodyBuilder b;
    Node* a = b.add("a", "Identity", {b.arg()});
    Node* c = b.add("b", "Neg", {{a, 0}}, with_a);
    a->device = "/cpu:1";
    c->device = "/cpu:2";
    CHECK(place_on(b, *devices, false).message() ==
          "Cannot colocate nodes {{colocation_node b}} and {{colocation_node a}}: Cannot merge devices with incompatible ids: '/device:CPU:2' and "
          "'/device:CPU:1'"
          "\n\t [[{{node b}}]]");
    REQUIRE(place_on(b, *devices, true).ok());
    CHECK(where(a) == "CPU:0");
    CHECK(where(c) == "CPU:0");
  }
  {
    BodyBuilder b;  // nobody has that name
    Node* n = b.add("n", "Neg", {b.arg()}, with_a);
    REQUIRE(place_on(b, *devices, false).ok());
    CHECK(where(n) == "CPU:0");
  }
}

TEST_CASE("what uses a resource stands with it, whatever it asks for") {
  auto devices = DeviceSet::cpus(3);
  BodyBuilder b;
  Node* v = b.add("v", "VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape::scalar()}});
  v->device = "/cpu:1";
  Node* init = b.add("init", "Const", {}, {{"value", Tensor::scalar(1.0f)}, {"dtype", DType::kFloat}});
  Node* assign = b.add("assign", "AssignVariableOp", {{v, 0}, {init, 0}});
  Node* read = b.add("read", "ReadVariableOp", {{v, 0}}, {{"dtype", DType::kFloat}});
  read->device = "/cpu:2";
  Node* id = b.add("id", "Identity", {{read, 0}});
  for (bool soft : {false, true}) {
    REQUIRE(place_on(b, *devices, soft).ok());
    CHECK(where(v) == "CPU:1");
    CHECK(where(assign) == "CPU:1");
    CHECK(where(read) == "CPU:1");
    CHECK(where(id) == "CPU:0");
    CHECK(where(init) == "CPU:1");  // costs nothing, so it is placed with its only reader
  }
}

TEST_CASE("users of a resource that ask for different devices: the first is heard") {
  auto devices = DeviceSet::cpus(3);
  BodyBuilder b;
  Node* v = b.add("v", "VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape::scalar()}});
  Node* first = b.add("first", "ReadVariableOp", {{v, 0}}, {{"dtype", DType::kFloat}});
  Node* second = b.add("second", "ReadVariableOp", {{v, 0}}, {{"dtype", DType::kFloat}});
  first->device = "/cpu:2";
  second->device = "/cpu:1";
  for (bool soft : {false, true}) {
    REQUIRE(place_on(b, *devices, soft).ok());
    for (const Node* n : {v, first, second}) CHECK(where(n) == "CPU:2");
  }
}

TEST_CASE("reference edges stay together, reading does not") {
  auto devices = DeviceSet::cpus(3);
  BodyBuilder b;
  Node* v = b.add("v", "VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape::scalar()}});
  v->device = "/cpu:1";
  Node* two = b.constant("two", 2.0f).node;
  Node* update = b.add("update", "AssignAdd", {{v, 0}, {two, 0}});
  Node* id = b.add("id", "Identity", {{update, 0}});
  Node* shape = b.add("shape", "Shape", {{update, 0}});
  REQUIRE(place_on(b, *devices, false).ok());
  CHECK(where(update) == "CPU:1");
  CHECK(where(two) == "CPU:1");
  CHECK(where(id) == "CPU:0");
  CHECK(where(shape) == "CPU:1");
}

TEST_CASE("constants go with their readers if these stand together") {
  auto devices = DeviceSet::cpus(3);
  BodyBuilder b;
  Endpoint x = b.arg(), k = b.constant("k", 7.0f), c1 = b.constant("c1", 3.0f), c2 = b.constant("c2", 4.0f), q = b.constant("q", 1.0f);
  q.node->device = "/cpu:1";
  Node* y = b.add("y", "Mul", {x, c1});
  Node* z = b.add("z", "Mul", {x, c2});
  z->device = "/cpu:1";
  Node* z1 = b.add("z1", "Mul", {{z, 0}, k});
  z1->device = "/cpu:1";
  Node* z2 = b.add("z2", "Mul", {q, {y, 0}});
  Node* z3 = b.add("z3", "Mul", {k, {z2, 0}});
  z3->device = "/cpu:2";
  b.ret({z3, 0});
  REQUIRE(place_on(b, *devices, false).ok());
  CHECK(where(y) == "CPU:0");
  CHECK(where(z2) == "CPU:0");
  CHECK(where(z3) == "CPU:2");
  CHECK(where(c1.node) == "CPU:0");
  CHECK(where(c2.node) == "CPU:1");
  CHECK(where(q.node) == "CPU:1");
  CHECK(where(k.node) == "CPU:0");
  CHECK(where(b.body().args[0]) == "CPU:0");
  CHECK(where(b.body().rets[0]) == "CPU:2");
  CHECK(single_device(b.body(), *devices) == nullptr);
}

TEST_CASE("everything on one device but arguments and constants is one device") {
  auto devices = DeviceSet::cpus(3);
  BodyBuilder b;
  Node* n = b.add("n", "Mul", {b.arg(), b.constant("c", 1.0f)});
  n->device = "/cpu:2";
  b.ret({n, 0});
  REQUIRE(place_on(b, *devices, false).ok());
  CHECK(single_device(b.body(), *devices) == devices->all()[2].get());
}

TEST_CASE("the nodes of a loop of version 1 are where they ask to be") {
  auto devices = DeviceSet::cpus(3);
  BodyBuilder b;
  Node* step = nullptr;
  Endpoint out = v1_loop(b, "loop", b.constant<int32_t>("n", 3), b.arg(DType::kInt32), [&](Endpoint x, Endpoint i) {
    step = b.add("step", "AddV2", {x, i});
    step->device = "/cpu:1";
    Node* more = b.add("more", "Neg", {{step, 0}});
    more->device = "/cpu:2";
    return Endpoint{more, 0};
  });
  b.ret(out);
  REQUIRE(place_on(b, *devices, false).ok());
  CHECK(where(step) == "CPU:1");
  CHECK(where(b.graph().find("more")) == "CPU:2");
  CHECK(where(b.graph().find("loop/cond")) == "CPU:0");
}
