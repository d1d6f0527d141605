// Object-based checkpoints: the values of all variables below an object, written as a tensor bundle together with the graph of
// the objects, as tf.train.Checkpoint does it. restore.h reads them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "saved_model/tracked_objects.h"

namespace weft_engine::saved_model {

// All that a checkpoint holds, taken at one moment. The tensors share the memory of the variables, which copy themselves when
// they are next changed; so a snapshot costs nothing but the reads, and can be written by another thread.
struct Snapshot {
  TrackedObjects objects;
  std::vector<std::pair<std::string, Tensor>> values;  // by key, the object graph among them
};
Result<Snapshot> take_snapshot(const std::shared_ptr<TrackableState>& root, std::span<const TrackableState::Child> attached = {});

// Writes PREFIX.index and PREFIX.data-*: tensor by tensor, no second copy in memory. What was there under this prefix stays
// whole until the new one is complete; see wire/tensor_bundle.h.
// Each tensor is let go when it is written, so that a variable that changes meanwhile seldom has to copy itself.
Status write_snapshot(std::string_view prefix, Snapshot& snapshot);

Status write_values(std::string_view prefix, std::span<const std::pair<std::string, Tensor>> values);

// What a variable holds now.
Result<Tensor> variable_value(trace::VariableState& v);

}  // namespace weft_engine::saved_model
