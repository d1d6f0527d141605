// Checkpoints saved and restored by weft itself: names, deferred values, the checks of the status, state file and manager.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "checkpoint/support.h"

TEST_CASE("values come back") {
  Folder dir;
  Net net(1.f);
  Checkpoint checkpoint({{"model", net}});
  CHECK(checkpoint.save(dir / "ckpt") == dir / "ckpt-1");
  CHECK(checkpoint.save(dir / "ckpt") == dir / "ckpt-2");
  net.w.assign(full({2, 3}, 9.f));
  Net other(5.f);
  Checkpoint again({{"model", &other}});
  again.restore(latest_checkpoint(dir.path)).assert_consumed();
  CHECK(other.w.value().to_vector<float>() == std::vector<float>(6, 1.f));
  CHECK(other.layers[1]->w.value().to_vector<float>() == std::vector<float>(6, 3.f));
  CHECK(again.save_counter().value().item<int64_t>() == 2);
  CHECK(again.save(dir / "ckpt") == dir / "ckpt-3");
}

TEST_CASE("keys are the names from the root, escaped") {
  Folder dir;
  struct Odd : Module {
    Variable v{Tensor(1.f), {.name = "v"}};
    Odd() {
      track("a.b/c", v);
      track("map", std::map<std::string, Variable>{{"x", v}, {"y", Variable(Tensor(2.f))}});
    }
  } odd;
  Checkpoint checkpoint({{"z", odd}, {"a", std::vector<Variable>{Variable(Tensor(3.f))}}});
  checkpoint.write(dir / "w");
  std::vector<std::string> keys;
  for (const auto& e : list_variables(dir / "w")) keys.push_back(e.key);
  CHECK(keys == std::vector<std::string>{"_CHECKPOINTABLE_OBJECT_GRAPH", "a/0/.ATTRIBUTES/VARIABLE_VALUE", "z/a..b.Sc/.ATTRIBUTES/VARIABLE_VALUE",
                                         "z/map/y/.ATTRIBUTES/VARIABLE_VALUE"});
  CHECK(load_variable(dir / "w", "a/0/.ATTRIBUTES/VARIABLE_VALUE").item<float>() == 3.f);
}
