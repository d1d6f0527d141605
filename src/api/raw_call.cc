#include "api/raw_call.h"

#include "weft/call.h"

namespace weft::api {
namespace {

void add(Call& c, const RawArgument& a) {
  using Kind = RawArgument::Kind;
  const char* name = a.name;
  switch (a.kind) {
    case Kind::kNone: break;
    case Kind::kInput: c.in(a.as<Tensor>()); break;
    case Kind::kInputs: c.in(a.as<std::vector<Tensor>>()); break;
    case Kind::kInt: c.attr(name, int64_t(a.word)); break;
    case Kind::kFloat: {
      float v;
      std::memcpy(&v, &a.word, sizeof v);
      c.attr(name, v);
      break;
    }
    case Kind::kBool: c.attr(name, bool(a.word)); break;
    case Kind::kType: c.attr(name, DType(int(a.word))); break;
    case Kind::kString: c.attr(name, a.as<std::string>()); break;
    case Kind::kShape: c.attr(name, a.as<PartialShape>()); break;
    case Kind::kTensor: c.attr(name, a.as<Tensor>()); break;
    case Kind::kInts: c.attr(name, a.as<std::vector<int64_t>>()); break;
    case Kind::kFloats: c.attr(name, a.as<std::vector<float>>()); break;
    case Kind::kBools: c.attr(name, a.as<std::vector<bool>>()); break;
    case Kind::kTypes: c.attr(name, a.as<std::vector<DType>>()); break;
    case Kind::kStrings: c.attr(name, a.as<std::vector<std::string>>()); break;
    case Kind::kShapes: c.attr(name, a.as<std::vector<PartialShape>>()); break;
    case Kind::kTensors: c.attr(name, a.as<std::vector<Tensor>>()); break;
    case Kind::kFunction: c.function(name, a.as<std::string>()); break;
    case Kind::kFunctions: c.functions(name, a.as<std::vector<std::string>>()); break;
  }
}

}  // namespace

Tensor call_for_one(const char* op, RawArguments arguments) {
  Call c(op);
  for (const RawArgument& a : arguments) add(c, a);
  return c.one();
}

std::vector<Tensor> call_for_all(const char* op, RawArguments arguments) {
  Call c(op);
  for (const RawArgument& a : arguments) add(c, a);
  return c.run();
}

void call_into(std::initializer_list<Tensor*> outputs, const char* op, RawArguments arguments) {
  std::vector<Tensor> all = call_for_all(op, arguments);
  size_t at = 0;
  for (Tensor* out : outputs) *out = std::move(all.at(at++));
}

}  // namespace weft::api
