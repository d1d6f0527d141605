#include "weft/trace.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "cli/commands.h"
#include "cli/text.h"
#include "cli/value.h"
#include "weft/cluster.h"
#include "weft/data.h"

namespace weft::cli {

namespace {

void tell(const TraceEvents& events, const std::string& what, const TraceArgs& args);

}  // namespace

int trace(const TraceArgs& args) {
  if (!args.cluster.empty()) {
    protect(args.protection);
    const TraceEvents events = trace_cluster(Cluster::from_file(args.cluster), args.seconds);
    std::set<std::string> devices;
    for (const auto& e : events.events) devices.insert(e.device);
    tell(events, "work on " + std::to_string(devices.size()) + (devices.size() == 1 ? " device" : " devices"), args);
    return 0;
  }
  if (args.load.path.empty()) throw Error(Code::kInvalidArgument, "trace: MODEL or --cluster is missing");
  const Model model = load_model(args.load);
  const Signature signature = model[choose_signature(model, args.signature)];
  const NamedTensors inputs = make_inputs(signature.info(), args.inputs, args.cast, true, args.batch);
  for (int i = 0; i < args.warmup; ++i) signature(inputs);
  TraceEvents events;
  for (int i = 0; i < args.runs; ++i) signature(inputs, events);
  tell(events, signature.info().name + ": " + std::to_string(args.runs) + (args.runs == 1 ? " run" : " runs"), args);
  return 0;
}

namespace {

// The trace into its file, and a table of what took longest.
void tell(const TraceEvents& events, const std::string& what, const TraceArgs& args) {
  if (!args.output.empty()) data::write_file(args.output, to_chrome_trace(events));

  struct Sum {
    int64_t ns = 0, longest = 0;
    int count = 0;
  };
  std::map<std::string, Sum> by_op;
  int64_t total = 0, first = 0, last = 0;
  for (const auto& e : events.events) {
    Sum& s = by_op[e.op];
    const int64_t ns = e.end_ns - e.start_ns;
    s.ns += ns;
    s.longest = std::max(s.longest, ns);
    ++s.count;
    total += ns;
    if (!first || e.start_ns < first) first = e.start_ns;
    last = std::max(last, e.end_ns);
  }
  std::vector<std::pair<std::string, Sum>> order(by_op.begin(), by_op.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  std::vector<std::vector<std::string>> rows;
  for (const auto& [op, s] : order) {
    if (int(rows.size()) >= args.rows) break;
    char share[16];
    std::snprintf(share, sizeof share, "%.1f%%", total ? 100.0 * double(s.ns) / double(total) : 0.0);
    rows.push_back({op, std::to_string(s.count), human_time(double(s.ns) * 1e-9), human_time(double(s.ns) * 1e-9 / s.count),
                    human_time(double(s.longest) * 1e-9), share});
  }
  std::cout << what << ", " << events.events.size() << " ops, " << human_time(double(last - first) * 1e-9) << " from first to last, "
            << human_time(double(total) * 1e-9) << " inside ops\n";
  std::cout << table({"op", "count>", "total>", "mean>", "longest>", "share>"}, rows);
  if (order.size() > rows.size()) std::cout << "... and " << order.size() - rows.size() << " kinds of ops more (--rows)\n";
  if (!args.output.empty()) std::cout << args.output << ": open it in ui.perfetto.dev or chrome://tracing\n";
}

}  // namespace

}  // namespace weft::cli
