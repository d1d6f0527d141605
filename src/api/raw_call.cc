#include "api/raw_call.h"

#include "weft/call.h"

namespace weft::api {

Tensor call_for_one(const char* op, std::initializer_list<const Tensor*> inputs) {
  Call c(op);
  for (const Tensor* t : inputs) c.in(*t);
  return c.one();
}
std::vector<Tensor> call_for_all(const char* op, std::initializer_list<const Tensor*> inputs) {
  Call c(op);
  for (const Tensor* t : inputs) c.in(*t);
  return c.run();
}

}  // namespace weft::api
