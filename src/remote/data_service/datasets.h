// Datasets: where a server makes datasets and walks them: devices, threads and resources of its own.
#pragma once

#include "eager/context.h"
#include "op/data_service.h"

namespace weft_engine::remote::data_service {

class Datasets {
 public:
  explicit Datasets(op::Registry& registry) : registry_(registry) {}
  // A dataset must not outlive this.
  core::Result<std::shared_ptr<const op::ServedDataset>> make(std::string_view graph, const op::Shard& shard);

 private:
  op::Registry& registry_;
  std::mutex mutex_;
  std::unique_ptr<eager::Context> context_;  // made when first needed: threads cost
};

}  // namespace weft_engine::remote::data_service
