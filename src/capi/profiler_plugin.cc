// Profilers from plug-ins: pluggable_profiler.h.
#include <dlfcn.h>

#include "capi/internal.h"
#include "capi/pluggable_device.h"
#include "core/profilers.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"
#include "wire/proto.h"

namespace weft_engine::capi {
namespace {

class PluginProfiler final : public Profiler {
 public:
  TP_Profiler profiler{};
  TP_ProfilerFns fns{};

  Status start() override {
    TF_Status s;
    fns.start(&profiler, &s);
    return s.status;
  }
  Status stop() override {
    TF_Status s;
    fns.stop(&profiler, &s);
    return s.status;
  }
  Result<std::string> collect() override {
    constexpr size_t kMost = size_t(1) << 31;  // protobuf's limit for a message
    TF_Status s;
    size_t size = 0;
    fns.collect_data_xspace(&profiler, nullptr, &size, &s);
    WEFT_RETURN_IF_ERROR(s.status);
    if (size >= kMost) return data_loss("a profile of ", size, " bytes");
    std::string out(size, '\0');
    if (size == 0) return out;
    fns.collect_data_xspace(&profiler, reinterpret_cast<uint8_t*>(out.data()), &size, &s);
    WEFT_RETURN_IF_ERROR(s.status);
    if (size < out.size()) out.resize(size);
    wire::ProtoReader r(out);
    while (r.next()) {
    }
    if (!r.ok()) return data_loss("the profile is not an XSpace message");
    return out;
  }
};

Status check_size(size_t size, const char* type, const char* macro) {
  return size ? Status() : failed_precondition("struct_size field in ", type, " must be set to ", macro, ".");
}
Status check_set(bool set, const char* field, const char* type) {
  return set ? Status() : failed_precondition("'", field, "' field in ", type, " must be set.");
}

}  // namespace

Status load_profiler(void* library) {
  const auto init = reinterpret_cast<void (*)(TF_ProfilerRegistrationParams*, TF_Status*)>(dlsym(library, "TF_InitProfiler"));
  if (!init) return {};
  auto made = std::make_unique<PluginProfiler>();
  made->profiler.struct_size = TP_PROFILER_STRUCT_SIZE;
  made->fns.struct_size = TP_PROFILER_FNS_STRUCT_SIZE;
  TF_ProfilerRegistrationParams params{};
  params.struct_size = TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params.major_version = TP_MAJOR;
  params.minor_version = TP_MINOR;
  params.patch_version = TP_PATCH;
  params.profiler = &made->profiler;
  params.profiler_fns = &made->fns;
  TF_Status s;
  init(&params, &s);
  WEFT_RETURN_IF_ERROR(s.status);
  WEFT_RETURN_IF_ERROR(check_size(params.struct_size, "TF_ProfilerRegistrationParams", "TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE"));
  WEFT_RETURN_IF_ERROR(check_size(made->profiler.struct_size, "TP_Profiler", "TP_PROFILER_STRUCT_SIZE"));
  WEFT_RETURN_IF_ERROR(check_set(made->profiler.device_type, "device_type", "TP_Profiler"));
  WEFT_RETURN_IF_ERROR(check_size(made->fns.struct_size, "TP_ProfilerFns", "TP_PROFILER_FNS_STRUCT_SIZE"));
  WEFT_RETURN_IF_ERROR(check_set(made->fns.start, "start", "TP_ProfilerFns"));
  WEFT_RETURN_IF_ERROR(check_set(made->fns.stop, "stop", "TP_ProfilerFns"));
  WEFT_RETURN_IF_ERROR(check_set(made->fns.collect_data_xspace, "collect_data_xspace", "TP_ProfilerFns"));
  WEFT_RETURN_IF_ERROR(check_set(params.destroy_profiler, "destroy_profiler", "TF_ProfilerRegistrationParams"));
  WEFT_RETURN_IF_ERROR(check_set(params.destroy_profiler_fns, "destroy_profiler_fns", "TF_ProfilerRegistrationParams"));
  std::string name = cat("for ", made->profiler.device_type);
  add_profiler(std::move(name), std::move(made));
  return {};
}

}  // namespace weft_engine::capi
