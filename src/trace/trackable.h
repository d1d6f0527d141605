// What is saved: objects that hold others by name, and variables at the leaves. Checkpoints and SavedModels walk this graph;
// the user's classes only hand their members to track().
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace weft_engine::trace {

using namespace weft_engine::core;

class TrackableState;
class VariableState;

// A restoration that still waits for objects that are not there yet. Implemented by saved_model/.
class PendingRestore {
 public:
  virtual ~PendingRestore() = default;
  // `child` is now held by an object that was node `node_id` of the file.
  virtual Status tracked(int node_id, std::string_view name, TrackableState& child) = 0;
  // A slot variable was made in an optimiser that was node `node_id`.
  virtual Status slot_made(int node_id, std::string_view slot, VariableState& original, VariableState& made) = 0;
  // Whether an object that was node `node_id` may still get something, and for which names.
  virtual bool waits(int node_id) const = 0;
  virtual std::vector<std::string> awaited(int node_id) const = 0;
};

class TrackableState : public std::enable_shared_from_this<TrackableState> {
 public:
  explicit TrackableState(std::string kind = "_UserObject") : kind_(std::move(kind)) {}
  virtual ~TrackableState() = default;
  TrackableState(const TrackableState&) = delete;

  // "_UserObject", "variable", "trackable_list_wrapper", "optimizer" ...: the identifier in SavedModels.
  const std::string& kind() const { return kind_; }
  virtual VariableState* as_variable() { return nullptr; }

  struct Child {
    std::string name;
    std::shared_ptr<TrackableState> state;
  };
  const std::vector<Child>& children() const { return children_; }
  TrackableState* child(std::string_view name) const;
  // A child of that name that is there already is replaced. Errors come from a restoration that waited for it.
  Status track(std::string name, std::shared_ptr<TrackableState> child);

  // Of optimisers: variables that belong to another variable (its momentum).
  struct Slot {
    std::string name;
    std::weak_ptr<VariableState> original;
    std::shared_ptr<VariableState> variable;
  };
  const std::vector<Slot>& slots() const { return slots_; }
  Status add_slot(std::string name, const std::shared_ptr<VariableState>& original, std::shared_ptr<VariableState> variable);

  // The node of a file that this object was matched with, to be told to children that come later. Earlier restorations that
  // wait for nothing else are forgotten.
  void await(std::shared_ptr<PendingRestore> restore, int node_id);

  // The number of the last restoration that reached this object: one that was begun before changes it no more.
  int64_t restored_by() const { return restored_by_; }
  void set_restored_by(int64_t restoration) { restored_by_ = restoration; }

 private:
  struct Pending {
    std::shared_ptr<PendingRestore> restore;
    int node_id;
  };
  std::vector<Pending> waiting();
  void forget_done();
  std::string kind_;
  int64_t restored_by_ = 0;
  std::vector<Child> children_;
  std::vector<Slot> slots_;
  std::vector<Pending> pending_;
};

}  // namespace weft_engine::trace
