// SPDX-License-Identifier: Apache-2.0
//
// REGISTER_OP("Name").Input("x: T").Output("y: T").Attr("T: type").SetShapeFn(...): an op's signature. In a library it is registered while the
// library is loaded, in a program before main.
#ifndef TENSORFLOW_CORE_FRAMEWORK_OP_H_
#define TENSORFLOW_CORE_FRAMEWORK_OP_H_

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/op_def_builder.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/logging.h"

namespace tensorflow {

// An op as a message, of OpDefBuilder::Finalize.
struct OpRegistrationData {
  OpRegistrationData() = default;
  OpRegistrationData(const OpDef& def) : op_def(def) {}  // NOLINT
  OpDef op_def;
  bool is_function_op = false;
};

// All ops of the process, those of TensorFlow and those that libraries added.
class OpRegistryInterface {
 public:
  virtual ~OpRegistryInterface() = default;
  virtual Status LookUp(const std::string& op_type_name, const OpRegistrationData** data) const = 0;
  Status LookUpOpDef(const std::string& op_type_name, const OpDef** op_def) const {
    *op_def = nullptr;
    const OpRegistrationData* data = nullptr;
    TF_RETURN_IF_ERROR(LookUp(op_type_name, &data));
    *op_def = &data->op_def;
    return OkStatus();
  }
};

class OpRegistry : public OpRegistryInterface {
 public:
  static OpRegistry* Global() {
    static auto* const registry = new OpRegistry;
    return registry;
  }
  // What is found stays where it is as long as the process.
  Status LookUp(const std::string& op_type_name, const OpRegistrationData** data) const override {
    static auto* const found = new std::map<std::string, OpRegistrationData>;
    static auto* const mu = new std::mutex;
    const std::lock_guard<std::mutex> lock(*mu);
    *data = nullptr;
    if (!found->count(op_type_name)) {
      std::vector<OpDef> ops;
      GetRegisteredOps(&ops);
      for (OpDef& op : ops) found->emplace(op.name(), std::move(op));
    }
    const auto it = found->find(op_type_name);
    if (it == found->end()) return errors::NotFound("Op type not registered '", op_type_name, "'");
    *data = &it->second;
    return OkStatus();
  }
  void Export(bool include_internal, OpList* ops) const {
    ops->Clear();
    std::vector<OpDef> all;
    GetRegisteredOps(&all);
    for (const OpDef& op : all) {
      if (include_internal || op.name().compare(0, 1, "_") != 0) *ops->add_op() = op;
    }
  }
  void GetRegisteredOps(std::vector<OpDef>* op_defs) const {
    TF_Buffer* bytes = TF_GetAllOpList();
    OpList ops;
    if (bytes) ops.ParseFromArray(bytes->data, static_cast<int>(bytes->length));
    if (bytes) TF_DeleteBuffer(bytes);
    op_defs->assign(ops.op().begin(), ops.op().end());
  }
  std::string DebugString(bool include_internal) const {
    TF_Buffer* bytes = weft_registry_text(include_internal);
    std::string text = bytes ? std::string(static_cast<const char*>(bytes->data), bytes->length) : std::string();
    if (bytes) TF_DeleteBuffer(bytes);
    return text;
  }
};

// "Op<name=...; signature=...>", of an op that is registered.
inline std::string SummarizeOpDef(const OpDef& op) {
  const std::string all = OpRegistry::Global()->DebugString(true), begin = "Op<name=" + op.name() + ";";
  const size_t at = all.compare(0, begin.size(), begin) == 0 ? 0 : all.find("\n" + begin);
  if (at == std::string::npos) return begin + ">";
  const size_t from = at == 0 ? 0 : at + 1;
  return all.substr(from, all.find('\n', from) - from);
}

}  // namespace tensorflow

#define WEFT_REGISTER_OP(counter, name) WEFT_REGISTER_OP_(counter, name)
#define WEFT_REGISTER_OP_(counter, name) \
  static const ::tensorflow::internal::RegisteredOp weft_registered_op_##counter [[maybe_unused]] = ::tensorflow::OpDefBuilder(name)
#define REGISTER_OP(name) WEFT_REGISTER_OP(__COUNTER__, name)
#define REGISTER_SYSTEM_OP(name) REGISTER_OP(name)

#endif  // TENSORFLOW_CORE_FRAMEWORK_OP_H_
