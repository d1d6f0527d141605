// What ran when: collected in a run that is handed one, for profiles and pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/export.h"
#include "weft/types.h"

namespace weft {

struct TraceEvent {
  std::string node, op, device;
  int64_t start_ns = 0, end_ns = 0;  // of the steady clock
  int64_t thread = 0;
  std::vector<std::pair<DType, std::vector<int64_t>>> outputs;
};

class TraceEvents {
 public:
  std::vector<TraceEvent> events;  // of all runs so far
};

// Chrome's trace format, which Perfetto (ui.perfetto.dev) and chrome://tracing show: a row for each thread, by device.
WEFT_API std::string to_chrome_trace(const TraceEvents& trace);

}  // namespace weft
