// A summary writer into a SQLite database with TensorBoard's tables, as TensorFlow's CreateSummaryDbWriter.
#pragma once

#include <map>
#include <mutex>

#include "core/tensor.h"
#include "ops/data/sqlite.h"

namespace weft_engine::ops {

class SummaryDb {
 public:
  // Names may be empty: then there is no such row.
  static core::Result<std::unique_ptr<SummaryDb>> open(const std::string& database, std::string experiment, std::string run, std::string user);
  ~SummaryDb();

  // A tensor as it is; `metadata` is a serialized SummaryMetadata.
  core::Status write(double time, int64_t step, std::string_view tag, const core::Tensor& tensor, std::string_view metadata);
  core::Status write_scalar(double time, int64_t step, std::string_view tag, const core::Tensor& value);
  // The values of a serialized Summary: numbers, histograms, images and clips become tensors.
  core::Status write_summary(double time, int64_t step, std::string_view summary);
  core::Status write_graph(double time, std::string_view graph_def);
  core::Status write_event(std::string_view event);

 private:
  explicit SummaryDb(std::unique_ptr<SqlDatabase> database) : db_(std::move(database)) {}
  core::Status make_tables();
  core::Status begin(double time);  // the rows of user, experiment and run
  core::Result<int64_t> new_id();
  core::Result<int64_t> tag_id(double time, std::string_view tag, std::string_view metadata);
  core::Status write_locked(double time, int64_t step, std::string_view tag, const core::Tensor& tensor, std::string_view metadata);
  core::Status write_value(double time, int64_t step, std::string_view value);
  core::Status write_node(int64_t graph, int64_t number, std::string_view node, const std::map<std::string, int64_t, std::less<>>& numbers);

  const std::unique_ptr<SqlDatabase> db_;
  std::string experiment_, run_, user_;
  std::mutex mutex_;
  bool begun_ = false;
  double started_ = 0;
  int64_t user_id_ = 0, experiment_id_ = 0, run_id_ = 0;  // 0: none
  uint64_t random_ = 0;
  std::map<std::string, int64_t, std::less<>> tags_;
};

}  // namespace weft_engine::ops
