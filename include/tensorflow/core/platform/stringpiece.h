// SPDX-License-Identifier: Apache-2.0
//
// StringPiece, and absl::string_view where abseil's own header has not come before: both are std::string_view.
#ifndef TENSORFLOW_CORE_PLATFORM_STRINGPIECE_H_
#define TENSORFLOW_CORE_PLATFORM_STRINGPIECE_H_

#include <string_view>

namespace tensorflow {
using StringPiece = std::string_view;
}

#ifndef ABSL_STRINGS_STRING_VIEW_H_
namespace absl {
using std::string_view;
}
#endif

#endif  // TENSORFLOW_CORE_PLATFORM_STRINGPIECE_H_
