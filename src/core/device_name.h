// Names of devices in all of TensorFlow's forms: "/job:localhost/replica:0/task:0/device:CPU:0",
// "/device:CPU:0", "/cpu:0", "CPU:0", parts left out or "*".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/status.h"

namespace weft_engine::core {

struct DeviceName {
  std::optional<std::string> job;
  std::optional<int> replica, task;
  std::optional<std::string> type;  // upper case: "CPU"
  std::optional<int> id;

  // An empty text is the name that leaves everything open.
  static Result<DeviceName> parse(std::string_view text);
  bool complete() const { return job && replica && task && type && id; }
  // Every part that this name fixes is the same in `full`.
  bool matches(const DeviceName& full) const;
  // Parts of `defaults` fill the open ones.
  DeviceName completed_by(const DeviceName& defaults) const;
  std::string to_string() const;
};

}  // namespace weft_engine::core
