#include "remote/data_service/datasets.h"

namespace weft_engine::remote::data_service {

using namespace weft_engine::core;

Result<std::shared_ptr<const op::ServedDataset>> Datasets::make(std::string_view graph, const op::Shard& shard) {
  const op::DatasetServing* serving = op::dataset_serving.load();
  if (!serving) return internal_error("nothing here makes datasets");
  op::KernelEnv env;
  {
    std::lock_guard lock(mutex_);
    if (!context_) context_ = std::make_unique<eager::Context>(registry_, eager::ContextOptions{});
    env = context_->env_for(context_->host());
  }
  return serving->make(env, graph, shard);
}

}  // namespace weft_engine::remote::data_service
