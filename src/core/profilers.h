// Profilers that somebody brings (plug-ins: capi/profiler_plugin.cc). Whoever makes a profile starts them with it and takes what they saw into it.
#pragma once

#include <memory>
#include <string>

#include "core/status.h"

namespace weft_engine::core {

class Profiler {
 public:
  virtual ~Profiler() = default;
  virtual Status start() = 0;
  virtual Status stop() = 0;
  virtual Result<std::string> collect() = 0;  // a serialized XSpace; after stop()
};

void add_profiler(std::string name, std::unique_ptr<Profiler> profiler);
// What fails is logged and left out of the profile.
void start_profilers();
// One XSpace with all that they saw; empty where there are none.
std::string stop_profilers();

}  // namespace weft_engine::core
