// Values from a checkpoint into the objects of a program. Objects are matched by the names that lead to them; those that come
// later get their values when they are tracked (trace/trackable.h). A bundle without an object graph (tf.compat.v1.train.Saver)
// is matched by the names of variables.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saved_model/tracked_objects.h"

namespace weft_engine::saved_model {

// What became of a restoration. The checks are errors (FailedPrecondition) unless they hold at the time of asking.
class RestoreStatus : public trace::PendingRestore {
 public:
  // Everything in the checkpoint has its object, and every variable its value.
  virtual Status assert_consumed() = 0;
  // Every variable that is there now has a value in the checkpoint.
  virtual Status assert_existing_objects_matched() = 0;
  // Something beside the root was matched.
  virtual Status assert_nontrivial_match() = 0;
  // Otherwise values that were never asked for are warned about when this goes.
  virtual void expect_partial() = 0;
  // A child of the root came that the root itself does not know of.
  virtual Status attach(const TrackableState::Child& child) = 0;
  // A variable whose value may be missing without an error of the checks.
  virtual void make_optional(const TrackableState& variable) = 0;
};

// Restores what is there now, and stays with the objects for what comes later. The prefix is that of a bundle, or the folder
// of a SavedModel. An empty one restores nothing, and its checks fail.
Result<std::shared_ptr<RestoreStatus>> restore_checkpoint(std::string_view prefix, const std::shared_ptr<TrackableState>& root,
                                                          std::span<const TrackableState::Child> attached = {});

}  // namespace weft_engine::saved_model
