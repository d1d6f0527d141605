// Program: a plan of the compiler on a GPU: its code loaded, its constants there, what to launch in order.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "compiler/gpu_code.h"
#include "cuda/gpu.h"
#include "op/step_trace.h"

namespace weft_engine::cuda {

class Program {
 public:
  // The plan and its module must outlive the program.
  static core::Result<std::unique_ptr<Program>> make(Gpu& gpu, const compiler::Plan& plan);
  ~Program();

  struct Call {
    std::vector<DevicePtr> parameters, results;  // as in the module
    std::vector<size_t> result_bytes;            // 0: a state
    std::vector<int64_t> symbols;
    op::StepTrace* trace = nullptr;  // gets each launch with the GPU's times; the call waits for them then
  };
  // Queues everything. What kernels find wrong with the data is told when the host next waits. Where the host decides nothing in between, calls with addresses that were
  // there before are recorded as a graph, and later ones are one launch.
  core::Status run(const Call& call);

 private:
  struct Run;
  class Timeline;
  Program(Gpu& gpu, const compiler::Plan& plan) : gpu_(gpu), plan_(plan) {}
  core::Status load();
  core::Status find_entries(std::vector<compiler::GpuLaunch>& launches);
  core::Status queue(Run& r);
  core::Status run_list(Run& r, const std::vector<compiler::GpuLaunch>& launches);
  core::Status run_one(Run& r, const compiler::GpuLaunch& l);
  core::Status attention(Run& r, const compiler::GpuLaunch& l);
  core::Result<bool> by_library(Run& r, const compiler::GpuLaunch& l);

  Gpu& gpu_;
  const compiler::Plan& plan_;
  std::unique_ptr<compiler::GpuHostCode> host_;  // with a driver that stands in
  compiler::GpuCode code_;
  void* module_ = nullptr;
  std::vector<DevicePtr> constants_;
  DevicePtr error_ = 0;  // 0: nothing can go wrong

  // Graphs of calls, by all that a call may change in them: addresses, sizes, switches.
  using Key = std::vector<uint64_t>;
  struct Recorded {
    Key key;
    void* graph;
    bool own_results;  // it writes own_results_, and the key has no results
  };
  core::Status record(Run& r, const Key& key, bool own_results);
  core::Status launch(const Call& call, const Recorded& graph);
  std::mutex graphs_mutex_;
  int launches_ = 0;  // of a call without open sizes; -1: the host decides in between, or there are too many
  std::vector<Recorded> graphs_;
  std::vector<DevicePtr> own_results_;  // for callers that keep small results for a while, each call's in another place
  // Hashes of keys of calls that were not recorded, and how often.
  struct Seen {
    std::vector<std::pair<uint64_t, int>> all;
    size_t next = 0;
    // Counts it. Was it there so often already?
    bool before(uint64_t hash, int times = 1);
  };
  Seen seen_, others_seen_;  // with the places of results, and without
  size_t next_graph_ = 0;
};

}  // namespace weft_engine::cuda
