// What only abseil's own header of attributes may define: abseil's refuses to be included after it.
#ifndef TENSORFLOW_CORE_PLATFORM_ABSL_ATTRIBUTES_H_
#define TENSORFLOW_CORE_PLATFORM_ABSL_ATTRIBUTES_H_

#include "tensorflow/core/platform/absl_forms.h"  // IWYU pragma: export

#ifndef ABSL_FALLTHROUGH_INTENDED
#define ABSL_FALLTHROUGH_INTENDED [[fallthrough]]
#endif

#endif  // TENSORFLOW_CORE_PLATFORM_ABSL_ATTRIBUTES_H_
