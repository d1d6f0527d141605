// What stands behind the C API's opaque types, and the two ways in and out: null checks and status.
// Nothing is thrown through a C symbol.
#pragma once

#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "core/status.h"
#include "core/tensor.h"
#include "eager/op.h"
#include "engine/engine.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"

namespace weft_engine::capi {
struct CollectedGraphs;
struct CustomDevices;
}  // namespace weft_engine::capi

struct TSL_Status {
  weft_engine::core::Status status;
};

struct TF_Tensor {
  weft_engine::core::Tensor tensor;
};

struct TFE_Context {
  explicit TFE_Context(const weft_engine::eager::ContextOptions& o) : context(weft_engine::engine::Engine::get().registry(), o) {}
  weft_engine::eager::Context context;
  std::mutex functions_mutex;
  std::map<std::string, int, std::less<>> function_counts;  // how often each was added
  std::shared_ptr<weft_engine::capi::CollectedGraphs> graphs;  // run_metadata.h
  std::shared_ptr<weft_engine::capi::CustomDevices> custom;  // custom_device.h; null: none
  std::atomic<bool> has_packed{false};                // whether packed handles were made
  const std::shared_ptr<std::atomic<bool>> alive = std::make_shared<std::atomic<bool>>(true);  // ops see by it that their context was deleted
};

struct TF_DeviceList {
  std::vector<const weft_engine::core::Device*> devices;
};

struct TFE_Op {
  explicit TFE_Op(TFE_Context* c) : op(c->context), owner(c), alive(c->alive) {}
  bool usable() const { return alive->load(std::memory_order_relaxed); }
  weft_engine::eager::Op op;
  TFE_Context* owner;
  const std::shared_ptr<const std::atomic<bool>> alive;  // of the owner
  std::string device_text;
  weft_engine::core::Status device_status;  // of a device that is not there: reported when the op executes
  // How many of the op's input arguments were added: they say what their attributes are. Inputs that are added one by one are counted when somebody
  // asks (count_arguments). It is kNotCounted from the element of a list that is added alone, since nobody knows where such a list ends.
  static constexpr int kNotCounted = -1;
  int arguments = 0;
  size_t counted_inputs = 0;
  void count_arguments();
  // Of the last call, which took the inputs: another one needs its own.
  int ran_inputs = 0, ran_outputs = 0;
  std::shared_ptr<weft_engine::op::CancellationManager> cancellation;  // of calls until it is reset
  // Set, or inferred from an input that was added: the first value of an attribute stays, as in TensorFlow.
  bool knows(std::string_view attr);
};

namespace weft_engine::capi {

using namespace weft_engine::core;

// A TFE_TensorHandle* is a TensorHandle with one reference owned by the client.
inline eager::TensorHandle* unwrap(TFE_TensorHandle* h) { return reinterpret_cast<eager::TensorHandle*>(h); }
inline TFE_TensorHandle* wrap(RefPtr<eager::TensorHandle> h) { return reinterpret_cast<TFE_TensorHandle*>(h.release()); }

inline void set(TF_Status* out, Status s) {
  if (out) out->status = std::move(s);
}

// Runs f, which returns a Status, and stores the outcome; a stray exception becomes a status too.
template <class F>
void guard(TF_Status* out, F&& f) noexcept {
  try {
    set(out, f());
  } catch (const std::bad_alloc&) {
    set(out, resource_exhausted("out of memory"));
  } catch (const std::exception& e) {
    set(out, internal_error(e.what()));
  }
}

// As guard for functions without a status: null on failure.
template <class T, class F>
T* guard_pointer(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    return nullptr;
  }
}

// An op that is there, and its context, too.
inline Status check_op(const TFE_Op* op) {
  if (!op) return invalid_argument("null argument: op");
  if (!op->usable()) [[unlikely]]
    return failed_precondition("the context of this op was deleted");
  return {};
}

#define WEFT_NOT_NULL(p) \
  if (!(p)) return ::weft_engine::core::invalid_argument("null argument: " #p)

// Takes bytes over into a buffer that the client frees.
void fill_buffer(TF_Buffer* buffer, std::string_view bytes);
TF_Buffer* new_buffer(std::string_view bytes);

Result<Shape> shape_from(const int64_t* dims, int num_dims);
// num_dims of -1 is an unknown rank.
PartialShape partial_shape_from(const int64_t* dims, int num_dims);
Result<DType> dtype_from(TF_DataType t);

}  // namespace weft_engine::capi
