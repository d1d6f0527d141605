// TFE_Op: building and executing one eager op.
#include <algorithm>
#include <optional>

#include "capi/custom_device.h"
#include "capi/internal.h"
#include "capi/run_metadata.h"
#include "core/thread_local.h"
#include "eager/cancellable.h"
#include "io/attr_codec.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "wire/proto.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::AttrValue;

namespace {

// Ops that were deleted wait here for the next TFE_NewOp of this thread, with their memory.
struct OpPool {
  static constexpr int kMost = 8;
  TFE_Op* ops[kMost];
  int count = 0;
  ~OpPool() {
    while (count) delete ops[--count];
  }
};

TFE_Op* take_op(TFE_Context* c) {
  OpPool* pool = ThreadLocal<OpPool>::get();
  if (pool && pool->count && pool->ops[pool->count - 1]->owner == c) {
    TFE_Op* op = pool->ops[--pool->count];
    if (op->usable()) [[likely]]
      return op;
    delete op;  // of a context that was at this address before
  }
  return new TFE_Op(c);
}

// Keeps the name in its normal form, "/device:CPU:0", for TFE_OpGetDevice.
// A name without a slash in front is one of Python's short forms.
Status set_device(TFE_Op* op, const char* device) {
  const std::string_view text = device ? device : "";
  op->device_text.clear();
  op->device_status = {};
  if (text.empty()) return op->op.set_device(text);
  auto name = DeviceName::parse(text);
  if (!name.ok() || text[0] != '/') {
    WEFT_RETURN_IF_ERROR(op->op.set_device({}));
    return invalid_argument("Malformed device specification '", text, "' in eager op: Name: ", op->op.spec()->name);
  }
  op->device_text = name->to_string();
  op->device_status = op->op.set_device(op->device_text);
  return {};
}

bool is_list(const weft_engine::op::ArgSpec& arg) { return arg.number_attr >= 0 || arg.type_list_attr >= 0; }

Status reset(TFE_Op* op, const char* name, const char* device) {
  op->device_text.clear();
  op->device_status = {};
  op->arguments = 0;
  op->counted_inputs = 0;
  op->ran_inputs = 0;
  op->cancellation = nullptr;
  WEFT_RETURN_IF_ERROR(op->op.reset(name));
  return device ? set_device(op, device) : Status();
}

// Setters do not check: a value of the wrong kind is found when the op executes, and a name that the op does not have is left out, since clients
// are made for other versions, too. What is known before stays.
void set_attr(TFE_Op* op, const char* name, FunctionRef<AttrValue()> value) noexcept {
  if (!op || !name || !op->usable() || !op->op.spec() || op->knows(name)) return;
  try {
    (void)op->op.set_attr(name, value());
  } catch (...) {  // out of memory: the op will report the missing attribute
  }
}

template <class T, class From, class Convert>
std::vector<T> list_of(const From* values, int n, Convert convert) {
  std::vector<T> list;
  for (int i = 0; values && i < n; ++i) list.push_back(convert(values[i]));
  return list;
}

std::string bytes_of(const void* value, size_t length) { return value ? std::string(static_cast<const char*>(value), length) : std::string(); }

}  // namespace

void TFE_Op::count_arguments() {
  if (arguments != kNotCounted && op.spec()) {
    const auto& args = op.spec()->signature().inputs;
    for (; counted_inputs < op.inputs().size() && arguments != kNotCounted && size_t(arguments) < args.size(); ++counted_inputs)
      arguments = is_list(args[size_t(arguments)]) ? kNotCounted : arguments + 1;
  }
  counted_inputs = op.inputs().size();
}

bool TFE_Op::knows(std::string_view attr) {
  if (std::any_of(op.attrs().begin(), op.attrs().end(), [&](const auto& a) { return a.first == attr; })) return true;
  count_arguments();
  if (arguments <= 0) return false;
  const auto& sig = op.spec()->signature();
  const int index = sig.attr_index(attr);
  return index >= 0 && std::any_of(sig.inputs.begin(), sig.inputs.begin() + arguments, [&](const weft_engine::op::ArgSpec& a) {
           return a.type_attr == index || a.number_attr == index || a.type_list_attr == index;
         });
}

TFE_Op* TFE_NewOp(TFE_Context* context, const char* name, TF_Status* status) {
  TFE_Op* op = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(context);
    WEFT_NOT_NULL(name);
    op = take_op(context);
    Status s = reset(op, name, nullptr);
    if (!s.ok()) {
      delete op;
      op = nullptr;
    }
    return s;
  });
  return op;
}

void TFE_DeleteOp(TFE_Op* op) {
  if (!op) return;
  op->op.clear();
  op->op.forget_function();
  if (OpPool* pool = ThreadLocal<OpPool>::get(); pool && pool->count < OpPool::kMost) pool->ops[pool->count++] = op;
  else delete op;
}

void TFE_OpReset(TFE_Op* op, const char* name, const char* device, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(name);
    return reset(op, name, device);
  });
}

const char* TFE_OpGetName(const TFE_Op* op, TF_Status* status) {
  const char* name = nullptr;
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    if (!op->op.spec()) return failed_precondition("the op has no name");
    name = op->op.spec()->name.data();  // a literal, or interned with a terminator
    return {};
  });
  return name;
}

TFE_Context* TFE_OpGetContext(const TFE_Op* op, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    return {};
  });
  return op && op->usable() ? op->owner : nullptr;
}

void TFE_OpSetDevice(TFE_Op* op, const char* device, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    return set_device(op, device);
  });
}

const char* TFE_OpGetDevice(const TFE_Op* op, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    return {};
  });
  return op ? op->device_text.c_str() : nullptr;
}

void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(input);
    op->op.add_input(RefPtr<weft_engine::eager::TensorHandle>::share(unwrap(input)));
    return {};
  });
}

void TFE_OpAddInputList(TFE_Op* op, TFE_TensorHandle** inputs, int n, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    if (n > 0) WEFT_NOT_NULL(inputs);
    for (int i = 0; i < n; ++i) WEFT_NOT_NULL(inputs[i]);
    op->count_arguments();
    for (int i = 0; i < n; ++i) op->op.add_input(RefPtr<weft_engine::eager::TensorHandle>::share(unwrap(inputs[i])));
    op->counted_inputs = op->op.inputs().size();
    if (op->arguments == TFE_Op::kNotCounted || !op->op.spec()) return {};
    const auto& args = op->op.spec()->signature().inputs;
    if (size_t(op->arguments) < args.size() && !is_list(args[size_t(op->arguments++)])) return invalid_argument("Invalid input list definition");
    return {};
  });
}

int TFE_OpGetFlatInputCount(const TFE_Op* op, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    return {};
  });
  return op ? int(op->op.inputs().size()) : 0;
}

TFE_TensorHandle* TFE_OpGetFlatInput(const TFE_Op* op, int i, TF_Status* status) {
  TFE_TensorHandle* h = nullptr;
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    if (i < 0 || size_t(i) >= op->op.inputs().size()) return invalid_argument("input ", i, " does not exist");
    h = reinterpret_cast<TFE_TensorHandle*>(op->op.inputs()[size_t(i)].get());  // borrowed: the op's own reference
    return {};
  });
  return h;
}

int TFE_OpGetInputLength(TFE_Op* op, const char* name, TF_Status* status) {
  int n = -1;
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(name);
    WEFT_ASSIGN(n, op->op.input_length(name));
    return {};
  });
  return n;
}

int TFE_OpGetOutputLength(TFE_Op* op, const char* name, TF_Status* status) {
  int n = -1;
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(name);
    WEFT_ASSIGN(n, op->op.output_length(name));
    return {};
  });
  return n;
}

// ---- Attributes ----

namespace {

Result<TF_AttrType> attr_type(const weft_engine::op::OpSpec& spec, const char* name, unsigned char* is_list) {
  const int i = spec.signature().attr_index(name);
  if (i < 0) return invalid_argument("Attribute '", name, "' does not exist for this operation");
  std::string_view type = spec.signature().attrs[size_t(i)].type;
  const bool list = type.starts_with("list(");
  if (list) type = type.substr(5, type.size() - 6);
  if (is_list) *is_list = list;
  if (type == "string") return TF_ATTR_STRING;
  if (type == "int") return TF_ATTR_INT;
  if (type == "float") return TF_ATTR_FLOAT;
  if (type == "bool") return TF_ATTR_BOOL;
  if (type == "type") return TF_ATTR_TYPE;
  if (type == "shape") return TF_ATTR_SHAPE;
  if (type == "tensor") return TF_ATTR_TENSOR;
  return TF_ATTR_FUNC;
}

}  // namespace

TF_AttrType TFE_OpGetAttrType(TFE_Op* op, const char* name, unsigned char* is_list, TF_Status* status) {
  TF_AttrType type = TF_ATTR_INT;
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(name);
    if (!op->op.spec()) return failed_precondition("the op has no name");
    WEFT_ASSIGN(type, attr_type(*op->op.spec(), name, is_list));
    return {};
  });
  return type;
}

TF_AttrType TFE_OpNameGetAttrType(TFE_Context* context, const char* op_name, const char* name, unsigned char* is_list, TF_Status* status) {
  TF_AttrType type = TF_ATTR_INT;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(context);
    WEFT_NOT_NULL(op_name);
    WEFT_NOT_NULL(name);
    WEFT_ASSIGN(const weft_engine::op::OpSpec* spec, weft_engine::eager::find_op(context->context, op_name));
    WEFT_ASSIGN(type, attr_type(*spec, name, is_list));
    return {};
  });
  return type;
}

void TFE_OpSetAttrString(TFE_Op* op, const char* name, const void* value, size_t length) {
  set_attr(op, name, [&] { return AttrValue(bytes_of(value, length)); });
}
void TFE_OpSetAttrInt(TFE_Op* op, const char* name, int64_t value) {
  set_attr(op, name, [&] { return AttrValue(value); });
}
void TFE_OpSetAttrFloat(TFE_Op* op, const char* name, float value) {
  set_attr(op, name, [&] { return AttrValue(value); });
}
void TFE_OpSetAttrBool(TFE_Op* op, const char* name, unsigned char value) {
  set_attr(op, name, [&] { return AttrValue(value != 0); });
}
void TFE_OpSetAttrType(TFE_Op* op, const char* name, TF_DataType value) {
  set_attr(op, name, [&] { return AttrValue(static_cast<DType>(value)); });
}
void TFE_OpSetAttrShape(TFE_Op* op, const char* name, const int64_t* dims, int num_dims, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(name);
    if (num_dims > kMaxRank)
      return invalid_argument("Value specified for `", name, "` has ", num_dims, " dimensions which is over the limit of ", kMaxRank, ".");
    set_attr(op, name, [&] { return AttrValue(partial_shape_from(dims, num_dims)); });
    return {};
  });
}
void TFE_OpSetAttrFunctionName(TFE_Op* op, const char* name, const char* data, size_t length) {
  set_attr(op, name, [&] { return AttrValue(weft_engine::op::FunctionAttr{bytes_of(data, length), nullptr}); });
}
void TFE_OpSetAttrTensor(TFE_Op* op, const char* name, TF_Tensor* tensor, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(name);
    WEFT_NOT_NULL(tensor);
    set_attr(op, name, [&] { return AttrValue(tensor->tensor); });
    return {};
  });
}
void TFE_OpSetAttrStringList(TFE_Op* op, const char* name, const void* const* values, const size_t* lengths, int n) {
  set_attr(op, name, [&] {
    std::vector<std::string> list;
    for (int i = 0; values && lengths && i < n; ++i) list.push_back(bytes_of(values[i], lengths[i]));
    return AttrValue(std::move(list));
  });
}
void TFE_OpSetAttrIntList(TFE_Op* op, const char* name, const int64_t* values, int n) {
  set_attr(op, name, [&] { return AttrValue(list_of<int64_t>(values, n, [](int64_t v) { return v; })); });
}
void TFE_OpSetAttrFloatList(TFE_Op* op, const char* name, const float* values, int n) {
  set_attr(op, name, [&] { return AttrValue(list_of<float>(values, n, [](float v) { return v; })); });
}
void TFE_OpSetAttrBoolList(TFE_Op* op, const char* name, const unsigned char* values, int n) {
  set_attr(op, name, [&] { return AttrValue(list_of<bool>(values, n, [](unsigned char v) { return v != 0; })); });
}
void TFE_OpSetAttrTypeList(TFE_Op* op, const char* name, const TF_DataType* values, int n) {
  set_attr(op, name, [&] { return AttrValue(list_of<DType>(values, n, [](TF_DataType v) { return static_cast<DType>(v); })); });
}
void TFE_OpSetAttrShapeList(TFE_Op* op, const char* name, const int64_t** dims, const int* num_dims, int n, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(name);
    if (n > 0) WEFT_NOT_NULL(dims);
    if (n > 0) WEFT_NOT_NULL(num_dims);
    std::vector<PartialShape> list;
    for (int i = 0; i < n; ++i) {
      if (num_dims[i] > kMaxRank)
        return invalid_argument("Value specified for `", name, "` has ", num_dims[i], " dimensions which is over the limit of ", kMaxRank, ".");
      list.push_back(partial_shape_from(dims[i], num_dims[i]));
    }
    set_attr(op, name, [&] { return AttrValue(std::move(list)); });
    return {};
  });
}
void TFE_OpSetAttrFunction(TFE_Op* op, const char* name, const TFE_Op* value) {
  if (!value || !value->usable() || !value->op.spec()) return;
  set_attr(op, name, [&] {
    auto attrs = std::make_shared<weft_engine::op::AttrMap>();
    for (const auto& [k, v] : value->op.attrs()) (*attrs)[k] = v;
    return AttrValue(weft_engine::op::FunctionAttr{std::string(value->op.spec()->name), std::move(attrs)});
  });
}
void TFE_OpSetAttrFunctionList(TFE_Op* op, const char* name, const TFE_Op** values, int n) {
  set_attr(op, name, [&] {
    std::vector<weft_engine::op::FunctionAttr> list;
    for (int i = 0; values && i < n; ++i) {
      if (values[i] && values[i]->usable() && values[i]->op.spec()) list.push_back({std::string(values[i]->op.spec()->name), nullptr});
    }
    return AttrValue(std::move(list));
  });
}
void TFE_OpSetAttrValueProto(const TFE_Op* op, const char* name, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(name);
    if (length) WEFT_NOT_NULL(proto);
    auto value = weft_engine::io::decode_attr({static_cast<const char*>(proto), length});
    if (!value.ok() || value->empty()) return invalid_argument("Unparseable AttrValue proto");
    set_attr(const_cast<TFE_Op*>(op), name, [&] { return std::move(value).value(); });
    return {};
  });
}

// ---- Execution ----

// The answer to a second call without new inputs.
static Status not_filled(const TFE_Op& op, int room) {
  if (room < op.ran_outputs) return invalid_argument("Expecting ", op.ran_outputs, " outputs, but *num_retvals is ", room);
  return invalid_argument("expected ", op.ran_inputs, " inputs, got 0");
}

void TFE_Execute(TFE_Op* op, TFE_TensorHandle** outputs, int* num_outputs, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(num_outputs);
    if (*num_outputs > 0) WEFT_NOT_NULL(outputs);
    if (op->owner->custom || op->owner->has_packed.load(std::memory_order_relaxed)) [[unlikely]] {
      bool taken = false;
      WEFT_RETURN_IF_ERROR(run_on_custom_device(op, outputs, num_outputs, &taken));
      if (taken) return {};
    }
    WEFT_RETURN_IF_ERROR(op->device_status);
    if (op->ran_inputs && op->op.inputs().empty()) [[unlikely]]
      return not_filled(*op, *num_outputs);
    std::optional<weft_engine::eager::Cancellable> cancellable;
    if (op->cancellation) [[unlikely]]
      cancellable.emplace(op->cancellation.get());
    Status s = op->op.execute(reinterpret_cast<weft_engine::eager::TensorHandle**>(outputs), *num_outputs, num_outputs);
    if (s.ok() || op->op.ran_on()) {
      op->ran_inputs = int(op->op.inputs().size());
      op->ran_outputs = *num_outputs;
      op->op.clear_inputs();
    }
    WEFT_RETURN_IF_ERROR(s);
    if (op->owner->graphs->on.load(std::memory_order_relaxed)) [[unlikely]]
      return collect_graphs(op);
    return {};
  });
}
