// SPDX-License-Identifier: Apache-2.0
//
// ConfigProto, RunOptions and RunMetadata: the fields that programs set. Options for GPUs are accepted and of no effect where there is none.
#ifndef TENSORFLOW_CORE_PROTOBUF_CONFIG_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_CONFIG_PB_H_

#include <string>

#include "tensorflow/core/platform/protobuf.h"

namespace tensorflow {

// Fields that these classes do not name are kept as they came.
class GPUOptions : public protobuf::MessageLite {
 public:
  void Clear() override { *this = GPUOptions(); }

 protected:
  bool MergeBytes(std::string_view bytes) override {
    protobuf::WireReader r(bytes);
    while (r.Next()) {
      if (r.field() == 1 && r.type() == 1) per_process_gpu_memory_fraction_ = r.real();
      else if (r.field() == 4 && r.type() == 0) allow_growth_ = r.number() != 0;
      else if (r.field() == 5 && r.type() == 2) visible_device_list_ = r.bytes();
      else rest_.append(r.whole());
    }
    return r.ok();
  }
  void AppendBytes(std::string* out) const override {
    out->append(rest_);
    if (per_process_gpu_memory_fraction_ != 0) protobuf::Wire::Double(out, 1, per_process_gpu_memory_fraction_);
    if (allow_growth_) protobuf::Wire::Number(out, 4, 1);
    if (!visible_device_list_.empty()) protobuf::Wire::Bytes(out, 5, visible_device_list_);
  }
  std::string rest_;
  WEFT_FIELD(double, per_process_gpu_memory_fraction, 0)
  WEFT_FIELD(bool, allow_growth, false)
  WEFT_STRING_FIELD(visible_device_list)
};

class ConfigProto : public protobuf::MessageLite {
 public:
  protobuf::Map<std::string, int32>* mutable_device_count() { return &device_count_; }
  const protobuf::Map<std::string, int32>& device_count() const { return device_count_; }
  void Clear() override { *this = ConfigProto(); }

 protected:
  bool MergeBytes(std::string_view bytes) override {
    protobuf::WireReader r(bytes);
    while (r.Next()) {
      const bool number = r.type() == 0;
      if (r.field() == 1 && r.type() == 2) {
        if (!ReadCount(r.bytes())) return false;
      } else if (r.field() == 2 && number) intra_op_parallelism_threads_ = static_cast<int32>(r.number());
      else if (r.field() == 5 && number) inter_op_parallelism_threads_ = static_cast<int32>(r.number());
      else if (r.field() == 6 && r.type() == 2) {
        if (!protobuf::Wire::Parse(mutable_gpu_options(), r.bytes())) return false;
      } else if (r.field() == 7 && number) allow_soft_placement_ = r.number() != 0;
      else if (r.field() == 8 && number) log_device_placement_ = r.number() != 0;
      else if (r.field() == 9 && number) use_per_session_threads_ = r.number() != 0;
      else if (r.field() == 11 && number) operation_timeout_in_ms_ = static_cast<int64>(r.number());
      else rest_.append(r.whole());
    }
    return r.ok();
  }
  void AppendBytes(std::string* out) const override {
    using protobuf::Wire;
    out->append(rest_);
    for (const auto& [name, count] : device_count_) {
      std::string entry;
      Wire::Bytes(&entry, 1, name);
      Wire::Number(&entry, 2, static_cast<uint64>(count));
      Wire::Bytes(out, 1, entry);
    }
    if (intra_op_parallelism_threads_) Wire::Number(out, 2, static_cast<uint64>(intra_op_parallelism_threads_));
    if (inter_op_parallelism_threads_) Wire::Number(out, 5, static_cast<uint64>(inter_op_parallelism_threads_));
    if (has_gpu_options()) Wire::Bytes(out, 6, gpu_options().SerializeAsString());
    if (allow_soft_placement_) Wire::Number(out, 7, 1);
    if (log_device_placement_) Wire::Number(out, 8, 1);
    if (use_per_session_threads_) Wire::Number(out, 9, 1);
    if (operation_timeout_in_ms_) Wire::Number(out, 11, static_cast<uint64>(operation_timeout_in_ms_));
  }

 private:
  bool ReadCount(std::string_view bytes) {
    std::string name;
    int32 count = 0;
    protobuf::WireReader r(bytes);
    while (r.Next()) {
      if (r.field() == 1 && r.type() == 2) name = r.bytes();
      if (r.field() == 2 && r.type() == 0) count = static_cast<int32>(r.number());
    }
    device_count_[name] = count;
    return r.ok();
  }
  std::string rest_;
  protobuf::Map<std::string, int32> device_count_;
  WEFT_FIELD(int32, intra_op_parallelism_threads, 0)
  WEFT_FIELD(int32, inter_op_parallelism_threads, 0)
  WEFT_FIELD(bool, allow_soft_placement, false)
  WEFT_FIELD(bool, log_device_placement, false)
  WEFT_FIELD(bool, use_per_session_threads, false)
  WEFT_FIELD(int64, operation_timeout_in_ms, 0)
  WEFT_MESSAGE_FIELD(GPUOptions, gpu_options)
};

class RunOptions : public protobuf::MessageLite {
 public:
  enum TraceLevel { NO_TRACE = 0, SOFTWARE_TRACE = 1, HARDWARE_TRACE = 2, FULL_TRACE = 3 };
  void Clear() override { *this = RunOptions(); }

 protected:
  bool MergeBytes(std::string_view bytes) override {
    protobuf::WireReader r(bytes);
    while (r.Next()) {
      if (r.field() == 1 && r.type() == 0) trace_level_ = static_cast<TraceLevel>(r.number());
      else if (r.field() == 2 && r.type() == 0) timeout_in_ms_ = static_cast<int64>(r.number());
      else rest_.append(r.whole());
    }
    return r.ok();
  }
  void AppendBytes(std::string* out) const override {
    out->append(rest_);
    if (trace_level_) protobuf::Wire::Number(out, 1, trace_level_);
    if (timeout_in_ms_) protobuf::Wire::Number(out, 2, static_cast<uint64>(timeout_in_ms_));
  }

 private:
  std::string rest_;
  WEFT_FIELD(TraceLevel, trace_level, NO_TRACE)
  WEFT_FIELD(int64, timeout_in_ms, 0)
};

// As bytes alone.
class RunMetadata : public protobuf::MessageLite {
 public:
  void Clear() override { bytes_.clear(); }

 protected:
  bool MergeBytes(std::string_view bytes) override { return bytes_.append(bytes), true; }
  void AppendBytes(std::string* out) const override { out->append(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PROTOBUF_CONFIG_PB_H_
