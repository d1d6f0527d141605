// Running an eager op for Python.
#pragma once

#include "bridge.h"
#include "eager/op.h"

namespace weft::python {

// Runs an op that was put together and gives up its inputs; raises with TensorFlow's text. `release`: other Python threads run meanwhile.
// `name`: what the caller called the op; null: TensorFlow says nothing of a name.
PyObject* run_one(eager::Op& op, bool release, const char* name = "");
std::vector<RefPtr<eager::TensorHandle>> run_all(eager::Op& op, bool release, const char* name = "");

// The name that TensorFlow gives an op in Python: "Conv2DBackpropInput" is conv2d_backprop_input.
std::string snake(std::string_view name);

// Whether results of ops go through a function of the package first (tf.debugging.enable_check_numerics).
bool ops_are_watched();

// An op object of this thread, for one call; goes back to the thread's store.
class SpareOp {
 public:
  SpareOp();
  ~SpareOp();
  SpareOp(const SpareOp&) = delete;
  eager::Op& operator*() { return *op_; }
  eager::Op* operator->() { return op_.get(); }

 private:
  std::unique_ptr<eager::Op> op_;
};

}  // namespace weft::python
