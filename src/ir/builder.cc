#include "ir/builder.h"

namespace weft::ir {

Value Builder::fail(core::Status s) {
  if (status_.ok()) status_ = std::move(s);
  return nullptr;
}

}  // namespace weft::ir
