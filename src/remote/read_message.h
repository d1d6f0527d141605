// Reading a message from outside, field by field.
#pragma once

#include <type_traits>

#include "core/status.h"
#include "wire/proto.h"

namespace weft_engine::remote {

inline core::Status malformed(std::string_view name) { return core::invalid_argument("a malformed ", name, " message"); }

// Calls field(reader) for each field; one that returns a Status ends the reading by an error. InvalidArgument names the message where its bytes are none.
template <class F>
core::Status read_message(std::string_view name, std::string_view bytes, F&& field) {
  wire::ProtoReader r(bytes);
  while (r.next()) {
    if constexpr (std::is_same_v<std::invoke_result_t<F&, wire::ProtoReader&>, core::Status>) {
      WEFT_RETURN_IF_ERROR(field(r));
    } else {
      field(r);
    }
  }
  return r.ok() ? core::Status() : malformed(name);
}

}  // namespace weft_engine::remote
