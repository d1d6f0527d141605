#include "saved_model/restorer.h"

#include <doctest/doctest.h>

#include <map>

namespace weft_engine::saved_model {
namespace {

struct Thing {
  std::string name;
  std::map<std::string, std::shared_ptr<Thing>> children;
  std::map<std::string, std::shared_ptr<Thing>> slots;  // of an optimizer with one variable
  int64_t restored = 0;
  std::string value;
};
std::shared_ptr<Thing> thing(std::string name) { return std::make_shared<Thing>(Thing{std::move(name), {}, {}, 0, ""}); }

class Things final : public GraphTargets {
 public:
  Things(Restorer& restorer, const std::shared_ptr<Thing>& root) : restorer_(restorer), root_(root) {}
  Result<int64_t> restored_by(const Object& o) override { return of(o).restored; }
  Status set_restored_by(const Object& o, int64_t restoration) override {
    of(o).restored = restoration;
    return {};
  }
  Object root() override { return root_; }
  Result<std::string> describe(const Object& o, bool listed) override { return listed ? cat("<", of(o).name, ">") : of(o).name; }
  const RestoreWords& words() const override { return words_; }
  Object bound(int node) override { return bound_[node].lock(); }
  Status bind(int node, const Object& o) override {
    bound_[node] = o;
    return {};
  }
  Result<std::vector<Object>> children(int, const Object& o, std::span<const Name> names) override {
    std::vector<Object> out;
    for (const auto& [name, node] : names) out.push_back(of(o).children.count(name) ? of(o).children[name] : nullptr);
    return out;
  }
  Status wait(int node, const Object&, std::span<const Name> missing) override {
    for (const auto& [name, child] : missing) waiting.push_back(cat(node, " ", name, " ", child));
    return {};
  }
  Object slot(const Object& optimizer, const Object&, std::string_view name) override {
    auto it = of(optimizer).slots.find(std::string(name));
    return it == of(optimizer).slots.end() ? nullptr : it->second;
  }
  Status restore_slot(const Object&, const Object&, std::string_view name, int node) override {
    asked.push_back(cat(name, " ", node));
    return {};
  }
  Status give(std::span<const NodeObject> list) override {
    for (const auto& [node, object] : list) {
      const auto& value = restorer_.graph().node(node).values[0];
      if (value.name == kVariableValue) of(object).value = value.key;
      else restorer_.add_unused(node, value.name);
    }
    return {};
  }
  Result<std::vector<Object>> objects() override { return std::vector<Object>{root_, root_->children.begin()->second}; }
  Result<bool> has_values(const Object& o) override { return o != root_; }
  void warn(const std::string& text) override { warnings.push_back(text); }

  std::vector<std::string> waiting, asked, warnings;

 private:
  static Thing& of(const Object& o) { return *static_cast<Thing*>(o.get()); }
  Restorer& restorer_;
  std::shared_ptr<Thing> root_;
  std::map<int, std::weak_ptr<void>> bound_;
  const RestoreWords words_{"", "Checkpoint", ""};
};

// 0: root {x: 1, y: 1, list: 2, opt: 4}; 2: list {0: 3}; 4: optimizer with the slot 5 "m" of 1; 6: a value that is no variable's.
std::vector<SavedTrackable> nodes() {
  std::vector<SavedTrackable> out(7);
  out[0].children = {{"x", 1}, {"y", 1}, {"list", 2}, {"opt", 4}, {"odd", 6}};
  out[2].children = {{"0", 3}};
  out[4].slots = {{"m", 1, 5}};
  for (int i : {1, 3, 5}) out[size_t(i)].values = {{std::string(kVariableValue), "", cat("key", i)}};
  out[6].values = {{"STATE", "", "key6"}};
  return out;
}

TEST_CASE("objects are matched by name, and what is not there waits") {
  Restorer r(nodes());
  auto root = thing("root");
  auto x = root->children["x"] = thing("x");
  root->children["y"] = thing("y");  // another object under the second name: the first has the value
  Things things(r, root);
  REQUIRE(r.restore(things, 0, root).ok());
  CHECK(x->value == "key1");
  CHECK(root->children["y"]->value.empty());
  CHECK(things.waiting == std::vector<std::string>{"0 list 2", "0 opt 4", "0 odd 6"});
  CHECK(things.asked.empty());
  CHECK(r.assert_existing_objects_matched(things).ok());
  CHECK(r.assert_consumed(things).message().starts_with("Unresolved object in checkpoint (root).list.0: "));

  // Who comes for a node that has an object is told of.
  REQUIRE(r.restore(things, 1, thing("z")).ok());
  REQUIRE(things.warnings.size() == 1);
  CHECK(things.warnings[0].ends_with("The referenced variables are:(x and z)."));

  // A list that is replaced gives its place to the next one; its element has its value.
  auto first = thing("list");
  REQUIRE(r.tracked(things, 0, "list", first).ok());
  CHECK(things.waiting.back() == "2 0 3");
  first.reset();
  auto second = thing("list"), element = second->children["0"] = thing("element");
  REQUIRE(r.tracked(things, 0, "list", second).ok());
  CHECK(element->value == "key3");

  // The optimizer makes the slot variable when it is asked; one that it has is restored with it.
  auto optimizer = thing("optimizer"), slot = thing("slot");
  REQUIRE(r.tracked(things, 0, "opt", optimizer).ok());
  CHECK(things.asked == std::vector<std::string>{"m 5"});
  REQUIRE(r.slot_made(things, 4, "m", x, slot).ok());
  CHECK(slot->value == "key5");

  auto odd = thing("odd");
  REQUIRE(r.tracked(things, 0, "odd", odd).ok());
  CHECK(r.assert_consumed(things).message() ==
        "Unused attributes in these objects (the attributes exist in the checkpoint but were not restored):\n(root).odd (odd): ['STATE']");
  CHECK(r.leftovers(things.words()).back() ==
        "An attribute in the restored object could not be found in the checkpoint. Object: (root).odd, attribute: ['STATE']");
}

TEST_CASE("slot variables that are there already are restored with the rest, and a later restoration is not undone") {
  Restorer early(nodes()), late(nodes());
  auto root = thing("root");
  auto x = root->children["x"] = thing("x");
  auto optimizer = root->children["opt"] = thing("optimizer");
  auto slot = optimizer->slots["m"] = thing("slot");
  Things things(late, root), before(early, root);
  REQUIRE(late.restore(things, 0, root).ok());
  CHECK(slot->value == "key5");
  x->value = "kept";
  REQUIRE(early.restore(before, 0, root).ok());
  CHECK(x->value == "kept");

  auto other = thing("root");
  other->children["q"] = thing("q");
  Restorer nothing(nodes());
  Things none(nothing, other);
  REQUIRE(nothing.restore(none, 0, other).ok());
  CHECK(nothing.assert_nontrivial_match(none).message() ==
        "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does not match the program. The "
        "following objects have no matching checkpointed value: [<q>]");
  CHECK(nothing.assert_existing_objects_matched(none).message() ==
        "Found 1 objects that were not bound to checkpointed values, likely due to changes in the program. Showing 1 of 1 unmatched objects: [<q>]");
}

}  // namespace
}  // namespace weft_engine::saved_model
