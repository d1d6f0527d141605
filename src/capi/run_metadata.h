// The graphs of functions that a context runs, for TFE_ContextExportRunMetadata.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "capi/internal.h"

namespace weft_engine::capi {

struct CollectedGraphs {
  std::atomic<bool> on{false};
  std::mutex mutex;
  std::set<std::string, std::less<>> seen;  // functions are collected the first time they run
  std::string message;                      // RunMetadata so far
};

// Called for an op that ran; adds its graphs if it is a function that was not seen before.
Status collect_graphs(TFE_Op* op);

}  // namespace weft_engine::capi
