// Random calls of all functions of the C API, with objects of mixed owners, nulls, unknown numbers and names.
//   capi_random SEED CALLS [--trace]
// Arrays have 8 elements and counts are at most that; what is deleted is never used again, and neither is what belongs to it. Everything else is
// allowed: the process must end by itself.
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_unified_experimental.h"
#include "tensorflow/c/env.h"
#include "tensorflow/c/experimental/filesystem/filesystem_interface.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/saved_model/public/saved_model_api.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_tstring.h"

namespace {

std::mt19937_64 rng;
size_t pick(size_t n) { return n ? rng() % n : 0; }

constexpr size_t kArray = 8;
constexpr const char* kWords[] = {"",
                                  "x",
                                  "y",
                                  "c",
                                  "n",
                                  "T",
                                  "dtype",
                                  "value",
                                  "shape",
                                  "f",
                                  "no such",
                                  "CPU",
                                  "square",
                                  "output",
                                  "_class",
                                  "N",
                                  "component",
                                  "input: T",
                                  "T: {float, int32}",
                                  "y: float",
                                  "T: type",
                                  "name: \"x\"",
                                  "\xff\xfe"};
constexpr const char* kOps[] = {"AddV2",          "Neg",  "Const", "NoOp",   "Placeholder", "MatMul",  "Identity", "VarHandleOp",
                                "ReadVariableOp", "AddN", "While", "square", "Unpack",      "Reshape", "Concat",   "NoSuchOp"};
constexpr const char* kDevices[] = {"", "/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0", "/cpu:0", "GPU:0", "CPU", "nonsense"};
constexpr const char* kFiles[] = {"", "a_file", "a_folder", "missing", "no_such_library.so"};

// Objects that a type has; what is deleted leaves.
template <class T>
std::vector<T*>& pool() {
  static std::vector<T*> all;
  return all;
}
template <class T>
T* one() {
  auto& all = pool<T>();
  return all.empty() || pick(16) == 0 ? nullptr : all[pick(all.size())];
}
template <class T>
void keep(T* p) {
  using Object = std::remove_const_t<T>;
  if (p && std::find(pool<Object>().begin(), pool<Object>().end(), p) == pool<Object>().end()) pool<Object>().push_back(const_cast<Object*>(p));
}
template <class T>
void keep_all(T** list) {
  for (size_t i = 0; list && i < kArray; ++i) keep(list[i]);
}

template <class T>
void forget(T* p) {
  using Object = std::remove_const_t<T>;
  std::erase(pool<Object>(), const_cast<Object*>(p));
  // What belonged to it.
  if constexpr (std::is_same_v<Object, TF_Graph> || std::is_same_v<Object, TF_Session> || std::is_same_v<Object, TF_DeprecatedSession>) {
    pool<TF_Operation>().clear();
    pool<TF_OperationDescription>().clear();
    pool<TF_ImportGraphDefOptions>().clear();
    pool<TF_ImportGraphDefResults>().clear();
  }
  if constexpr (std::is_same_v<Object, TFE_Context>) {
    pool<TFE_Op>().clear();
    pool<TF_SavedModel>().clear();
  }
  if constexpr (std::is_same_v<Object, TFE_Context> || std::is_same_v<Object, TF_SavedModel>) {
    pool<TF_ConcreteFunction>().clear();
    pool<TF_FunctionMetadata>().clear();
    pool<TF_SignatureDefFunction>().clear();
    pool<TF_SignatureDefFunctionMetadata>().clear();
    pool<TF_SignatureDefParamList>().clear();
    pool<TF_SignatureDefParam>().clear();
    pool<TF_TensorSpec>().clear();
  }
  if constexpr (std::is_same_v<Object, TF_ExecutionContext>) {
    pool<TF_AbstractOp>().clear();
    pool<TF_AbstractTensor>().clear();
    pool<TF_OutputList>().clear();
  }
  if constexpr (std::is_same_v<Object, TF_AbstractTensor>) pool<TF_OutputList>().clear();
  pool<TFE_MonitoringCounterCell>().clear();
  pool<TFE_MonitoringIntGaugeCell>().clear();
  pool<TFE_MonitoringBoolGaugeCell>().clear();
  pool<TFE_MonitoringStringGaugeCell>().clear();
  pool<TFE_MonitoringSamplerCell>().clear();
}

TF_Status* status = nullptr;

template <class R, class... A>
R nothing(A...) {
  if constexpr (!std::is_void_v<R>) return R();
}
template <class R, class... A>
R (*function(R (*)(A...)))(A...) {
  return pick(3) ? nothing<R, A...> : nullptr;
}

// Memory for arguments of this call.
void* memory(size_t n) { return std::calloc(1, n); }

const char* word(std::string_view name) {
  if (name.find("op_type") != name.npos || name == "op_name" || name == "op" || name == "op_or_function_name") return kOps[pick(std::size(kOps))];
  if (name.find("device") != name.npos) return kDevices[pick(std::size(kDevices))];
  for (const char* part : {"path", "file", "dir", "library"}) {
    if (name.find(part) != name.npos) return kFiles[pick(std::size(kFiles))];
  }
  return pick(4) ? kWords[pick(std::size(kWords))] : kOps[pick(std::size(kOps))];
}

// With room behind it for any length that goes with it.
const char* text(std::string_view name) {
  if (pick(24) == 0) return nullptr;
  return std::strcpy(static_cast<char*>(memory(64)), word(name));
}

// Bytes that are sometimes a message.
const void* bytes() {
  auto* b = static_cast<unsigned char*>(memory(64));
  constexpr std::string_view kMessages[] = {"\x0a\x05\x0a\x01x\x12\x00",        "\x30\x01", "\x18\x07", "\x0a\x00", "\xff\xff\xff",
                                            "\x08\x01\x12\x04\x12\x02\x08\x03", ""};
  const auto m = kMessages[pick(std::size(kMessages))];
  std::memcpy(b, m.data(), m.size());
  return b;
}

TF_DataType type() {
  constexpr int kTypes[] = {1, 1, 1, 3, 3, 9, 10, 2, 7, 20, 21, 14, 0, 24, 101, 9999, -1, INT_MAX};
  return static_cast<TF_DataType>(kTypes[pick(std::size(kTypes))]);
}

int number(std::string_view name) {
  constexpr int kAny[] = {-1, 0, 1, 2, 3, 7, 1000, INT_MAX, INT_MIN};
  if (name == "i" || name == "index" || name.find("_index") != name.npos) return kAny[pick(std::size(kAny))];
  return int(pick(6)) - 1;
}

template <class T>
T draw(std::string_view name);

template <class T>
constexpr bool is_object = !std::is_void_v<T> && !std::is_arithmetic_v<T> && !std::is_pointer_v<T> && !std::is_enum_v<T>;

template <class T>
T draw_number(std::string_view name) {
  if constexpr (std::is_same_v<T, int>) {
    return number(name);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    constexpr int64_t kValues[] = {0, 1, 2, 3, -1, 4, INT64_MAX, INT64_MIN};
    return kValues[pick(std::size(kValues))];
  } else if constexpr (std::is_floating_point_v<T>) {
    return T(double(pick(7)) - 2.5);
  } else {
    return T(pick(kArray + 1));
  }
}

// An array for a parameter that points to T.
template <class T>
T* array(std::string_view name) {
  using Value = std::remove_const_t<T>;
  auto* list = static_cast<Value*>(memory(sizeof(Value) * kArray * 8));
  for (size_t i = 0; i < kArray; ++i) {
    if constexpr (std::is_same_v<Value, int64_t>) list[i] = int64_t(pick(5)) - 1;
    else if constexpr (std::is_same_v<Value, int>) list[i] = int(pick(6)) - 1;
    else if constexpr (std::is_same_v<Value, bool>) list[i] = pick(2);
    else if constexpr (!std::is_same_v<Value, char>) list[i] = draw<Value>(name);
  }
  return list;
}

template <class T>
T draw(std::string_view name) {
  if constexpr (std::is_same_v<T, TF_Status*>) {
    return pick(40) ? status : nullptr;
  } else if constexpr (std::is_same_v<T, const char*>) {
    return text(name);
  } else if constexpr (std::is_same_v<T, const void*> || std::is_same_v<T, void*>) {
    return pick(24) ? const_cast<void*>(bytes()) : nullptr;
  } else if constexpr (std::is_same_v<T, TF_DataType>) {
    return type();
  } else if constexpr (std::is_same_v<T, TF_Output>) {
    return {one<TF_Operation>(), number(pick(4) ? "" : "index")};
  } else if constexpr (std::is_same_v<T, TF_Input>) {
    return {one<TF_Operation>(), number(pick(4) ? "" : "index")};
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(int(pick(30)) - 2);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return draw_number<T>(name);
  } else if constexpr (!std::is_pointer_v<T>) {
    return T{};
  } else if constexpr (std::is_function_v<std::remove_pointer_t<T>>) {
    return function(T());
  } else {
    using Target = std::remove_pointer_t<T>;
    using Value = std::remove_const_t<Target>;
    if constexpr (std::is_arithmetic_v<Value> || std::is_pointer_v<Value> || std::is_enum_v<Value> || std::is_same_v<Value, TF_Output> ||
                  std::is_same_v<Value, TF_Input>) {
      return pick(24) ? array<Target>(name) : nullptr;
    } else if constexpr (std::is_same_v<Value, TF_TString> || std::is_same_v<Value, TF_FileStatistics> || std::is_same_v<Value, TF_ThreadOptions> ||
                         std::is_same_v<Value, TFE_CancelCallback> || std::is_same_v<Value, TF_InputRange_Args> ||
                         std::is_same_v<Value, TF_AllocatorAttributes> || std::is_same_v<Value, TF_FilesystemPluginInfo> ||
                         std::is_same_v<Value, TF_WhileParams>) {
      return static_cast<Target*>(memory(sizeof(Value)));
    } else {
      return one<Value>();
    }
  }
}
// A reference in the headers is decayed to its value above; the one type of this kind is a plain struct.
static_assert(is_object<TF_Buffer>);

struct Call {
  const char* name;
  void (*run)();
};
const Call kCalls[] = {
#include "capi_calls.inc"
};

TF_Tensor* scalar(float value) {
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof value);
  std::memcpy(TF_TensorData(t), &value, sizeof value);
  return t;
}

// A graph with a placeholder x, a constant c and n = Neg(x); a session, a context, handles: two of each, over time more.
void refill() {
  if (pool<TF_Graph>().size() < 2 || pool<TF_Operation>().empty()) {
    TF_Graph* g = TF_NewGraph();
    keep(g);
    TF_OperationDescription* d = TF_NewOperation(g, "Placeholder", "x");
    TF_SetAttrType(d, "dtype", TF_FLOAT);
    TF_Operation* x = TF_FinishOperation(d, status);
    keep(x);
    d = TF_NewOperation(g, "Const", "c");
    TF_Tensor* t = scalar(3);
    TF_SetAttrTensor(d, "value", t, status);
    TF_SetAttrType(d, "dtype", TF_FLOAT);
    keep(TF_FinishOperation(d, status));
    keep(t);
    d = TF_NewOperation(g, "Neg", "n");
    TF_AddInput(d, {x, 0});
    TF_Operation* n = TF_FinishOperation(d, status);
    keep(n);
    const TF_Output in{x, 0}, out{n, 0};
    const TF_Operation* body[] = {n};
    keep(TF_GraphToFunction(g, "square", 0, 1, body, 1, &in, 1, &out, nullptr, nullptr, nullptr, status));
    TF_Buffer* def = TF_NewBuffer();
    TF_GraphToGraphDef(g, def, status);
    keep(def);
    TF_SessionOptions* o = TF_NewSessionOptions();
    keep(o);
    keep(TF_NewSession(g, o, status));
    keep(TF_NewDeprecatedSession(o, status));
    keep(TF_NewImportGraphDefOptions());
  }
  if (pool<TFE_Context>().size() < 2) {
    TFE_ContextOptions* o = TFE_NewContextOptions();
    TFE_ContextOptionsSetAsync(o, pick(3) == 0);
    TFE_Context* c = TFE_NewContext(o, status);
    keep(o);
    keep(c);
    for (TF_Function* f : pool<TF_Function>()) TFE_ContextAddFunction(c, f, status);
  }
  if (pool<TFE_TensorHandle>().size() < 2 && !pool<TF_Tensor>().empty()) keep(TFE_NewTensorHandle(pool<TF_Tensor>()[0], status));
  if (pool<TFE_Op>().empty()) keep(TFE_NewOp(pool<TFE_Context>()[0], kOps[pick(2)], status));
  if (pool<TF_Tensor>().empty()) keep(scalar(2));
  if (pool<TF_ExecutionContext>().size() < 2) {
    TF_ExecutionContext* c = pick(2)
                                 ? TF_NewEagerExecutionContext(pool<TFE_ContextOptions>().empty() ? nullptr : pool<TFE_ContextOptions>()[0], status)
                                 : TF_CreateFunction("traced", status);
    keep(c);
    if (c) keep(TF_NewAbstractOp(c));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  rng.seed(std::strtoull(argv[1], nullptr, 10));
  const long calls = std::strtol(argv[2], nullptr, 10);
  const bool trace = argc > 3;
  status = TF_NewStatus();
  long ok = 0;
  for (long i = 0; i < calls; ++i) {
    refill();
    // Half of the calls are of the functions that most clients use.
    const Call* call = &kCalls[pick(std::size(kCalls))];
    if (pick(2)) {
      for (int tries = 0; tries < 50 && std::strncmp(call->name, "TFE_Monitoring", 14) == 0; ++tries) call = &kCalls[pick(std::size(kCalls))];
    }
    if (trace) std::fprintf(stderr, "%s\n", call->name);
    TF_SetStatus(status, TF_OK, "");
    call->run();
    ok += TF_GetCode(status) == TF_OK;
    if (trace && TF_GetCode(status) != TF_OK) std::fprintf(stderr, "    %d %s\n", int(TF_GetCode(status)), TF_Message(status));
  }
  std::printf("%ld calls of %zu functions, %ld without an error\n", calls, std::size(kCalls), ok);
  std::fflush(stdout);
  std::_Exit(0);
}
