// TaskRunner: the elements of one task of a worker, made before they are asked for on a thread of its own, and given to whoever asks: first come, first served; to
// consumers in turn (coordinated reads); or to every trainer (cross-trainer cache).
#pragma once

#include "remote/data_service/calls.h"

namespace weft_engine::remote::data_service {

class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  // May wait.
  virtual Result<GetElementResult> next(const GetElementRequest& request) = 0;
  virtual void cancel() = 0;
};

// `keep`: what the iterator needs; held as long as the thread that walks.
Result<std::shared_ptr<TaskRunner>> make_task_runner(const TaskDef& task, int64_t cardinality, int64_t cache_bytes,
                                                     std::unique_ptr<op::ServedIterator> iterator,
                                                     std::shared_ptr<op::CancellationManager> cancellation, std::shared_ptr<const void> keep);

}  // namespace weft_engine::remote::data_service
