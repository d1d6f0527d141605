// SPDX-License-Identifier: Apache-2.0
//
// StringPiece is std::string_view. What these headers have of abseil's names is in tensorflow::absl_forms, which namespace absl refers to: a name that an
// abseil header declares comes before it, wherever that header is included.
#ifndef TENSORFLOW_CORE_PLATFORM_STRINGPIECE_H_
#define TENSORFLOW_CORE_PLATFORM_STRINGPIECE_H_

#include <string_view>
#include <type_traits>
#include <utility>

namespace tensorflow {

using StringPiece = std::string_view;

namespace absl_forms {
using std::string_view;
}

namespace internal {
// A class of another library that is a view of text, as abseil's string_view where it is not the standard one.
template <class T, class = void>
struct IsForeignView : std::false_type {};
template <class T>
struct IsForeignView<T, std::void_t<decltype(std::declval<T&>().remove_prefix(size_t())), decltype(T(static_cast<const char*>(nullptr), size_t()))>>
    : std::bool_constant<!std::is_same_v<T, std::string_view> && std::is_convertible_v<decltype(std::declval<const T&>().data()), const char*>> {};
}  // namespace internal
}  // namespace tensorflow

namespace absl {
using namespace ::tensorflow::absl_forms;  // NOLINT
}

#endif  // TENSORFLOW_CORE_PLATFORM_STRINGPIECE_H_
