// Lays the objects of a checkpoint over those of a program, in C++ (restore.cc) and in Python (python/native/restore.cc). Which object is which, what waits
// for objects that come later, where values go, and what the checks and warnings say is decided here; a front end looks into its objects and gives them values.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "saved_model/restore_graph.h"

namespace weft_engine::saved_model {

// The number of a restoration: an object that a later one has reached is not changed by those before it.
int64_t next_restoration();

// What differs in the texts of front ends.
struct RestoreWords {
  std::string_view language;  // "Python ", before "objects" and "program"
  std::string_view checkpoint;  // the class
  std::string_view see;  // where status objects are explained
};

// The objects of a program, as a restoration sees them. Two are the same where the pointers are equal.
class RestoreTargets {
 public:
  using Object = std::shared_ptr<void>;
  virtual ~RestoreTargets() = default;
  virtual Result<int64_t> restored_by(const Object& object) = 0;
  virtual Status set_restored_by(const Object& object, int64_t restoration) = 0;
  virtual Object root() = 0;  // null: it was freed
  virtual Result<std::vector<Object>> objects() = 0;  // all that are tracked now
  virtual Result<bool> has_values(const Object& object) = 0;
  // For messages: the object, alone or as one of a list.
  virtual Result<std::string> describe(const Object& object, bool listed) = 0;
  virtual const RestoreWords& words() const = 0;
};

// For a checkpoint with an object graph.
class GraphTargets : public RestoreTargets {
 public:
  using Name = std::pair<std::string, int>;  // of a child, and its node
  using NodeObject = std::pair<int, Object>;

  // The object that is bound to a node; null: none, or it was freed.
  virtual Object bound(int node) = 0;
  virtual Status bind(int node, const Object& object) = 0;
  // The children of these names; null: there is none.
  virtual Result<std::vector<Object>> children(int node, const Object& object, std::span<const Name> names) = 0;
  // The object has no such children yet, and may wait for other things of the node.
  virtual Status wait(int node, const Object& object, std::span<const Name> missing) = 0;
  // A slot variable that the optimizer has.
  virtual Object slot(const Object&, const Object& /*variable*/, std::string_view /*name*/) { return nullptr; }
  // For optimizers that make slot variables when there is a value for them.
  virtual Status restore_slot(const Object& /*optimizer*/, const Object& /*variable*/, std::string_view /*name*/, int /*node*/) { return {}; }
  // Reads the values of the nodes into their objects.
  virtual Status give(std::span<const NodeObject> list) = 0;
  virtual void warn(const std::string& text) = 0;
};

class Restorer {
 public:
  using Object = RestoreTargets::Object;
  explicit Restorer(std::vector<SavedTrackable> nodes, bool skip_slots = false) : graph_(std::move(nodes), skip_slots), id_(next_restoration()) {}

  int64_t id() const { return id_; }
  const RestoreGraph& graph() const { return graph_; }

  // The object is that of the node: so are all that are found below it, and get their values.
  Status restore(GraphTargets& targets, int node, Object object);
  // A child came to the object of a node; a slot variable to an optimizer.
  Status tracked(GraphTargets& targets, int node, std::string_view name, Object child);
  Status slot_made(GraphTargets& targets, int optimizer, std::string_view name, const Object& variable, Object made);
  // A value of the node that its object does not take.
  void add_unused(int node, std::string_view value);

  // FailedPrecondition, in TensorFlow's words.
  Status assert_consumed(GraphTargets& targets) const;
  Status assert_existing_objects_matched(GraphTargets& targets) const;
  Status assert_nontrivial_match(GraphTargets& targets) const;
  // Warnings about values that found no object; none where all did.
  std::vector<std::string> leftovers(const RestoreWords& words) const;

 private:
  bool is_free(GraphTargets& targets, int node) const;
  Status warn_of_two(GraphTargets& targets, int node, const Object& object) const;
  std::vector<Object> bound_objects(GraphTargets& targets) const;
  Result<std::vector<Object>> unmatched(GraphTargets& targets, std::span<const Object> bound) const;
  Status check_existing(GraphTargets& targets, std::span<const Object> bound) const;

  RestoreGraph graph_;
  const int64_t id_;
  std::vector<std::pair<int, std::vector<std::string>>> unused_;  // node, names
};

// For a checkpoint of version 1, which knows variables by name alone.
class NamedTargets : public RestoreTargets {
 public:
  // The name of a variable; empty for another object.
  virtual Result<std::string> name(const Object& object) = 0;
  virtual bool in_checkpoint(const std::string& name) = 0;
  // Values that are not in the checkpoint, kept for the checks; those that may be missing are not listed.
  virtual void add_unused(const Object& object, std::string name) = 0;
  virtual std::vector<std::pair<Object, std::string>> unused() = 0;
};

class NameRestorer {
 public:
  using Object = RestoreTargets::Object;
  int64_t id() const { return id_; }
  // The name of the value that the object is to get now; empty: none.
  Result<std::string> take(NamedTargets& targets, const Object& object);
  // Such a checkpoint knows nothing of objects: there is one check.
  Status assert_consumed(NamedTargets& targets) const;

 private:
  const int64_t id_ = next_restoration();
};

// There was no checkpoint.
Status nothing_restored();

}  // namespace weft_engine::saved_model
