// Calls of ops as the generated wrappers make them (src/opgen): arguments as a list of small records. One function for all of them keeps the library small.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "weft/tensor.h"

namespace weft::api {

// An input, or an attribute that is set where `given`; the value of others than numbers is referred to.
class RawArgument {
 public:
  enum class Kind : uint8_t {
    kNone,
    kInput,
    kInputs,
    kInt,
    kFloat,
    kBool,
    kType,
    kString,
    kShape,
    kTensor,
    kInts,
    kFloats,
    kBools,
    kTypes,
    kStrings,
    kShapes,
    kTensors,
    kFunction,
    kFunctions
  };

  RawArgument(const Tensor& t) : RawArgument(nullptr, Kind::kInput, address(t)) {}  // NOLINT: implicit on purpose
  RawArgument(const std::vector<Tensor>& list) : RawArgument(nullptr, Kind::kInputs, address(list)) {}  // NOLINT
  RawArgument(const char* name, int64_t v, bool given = true) : RawArgument(name, Kind::kInt, uint64_t(v), given) {}
  RawArgument(const char* name, float v, bool given = true) : RawArgument(name, Kind::kFloat, 0, given) { std::memcpy(&word, &v, sizeof v); }
  RawArgument(const char* name, bool v, bool given = true) : RawArgument(name, Kind::kBool, v, given) {}
  RawArgument(const char* name, DType v, bool given = true) : RawArgument(name, Kind::kType, uint64_t(int(v)), given) {}
#define WEFT_BY_ADDRESS(T, kind) \
  RawArgument(const char* name, const T& v, bool given = true) : RawArgument(name, Kind::kind, address(v), given) {}
  WEFT_BY_ADDRESS(std::string, kString)
  WEFT_BY_ADDRESS(PartialShape, kShape)
  WEFT_BY_ADDRESS(Tensor, kTensor)
  WEFT_BY_ADDRESS(std::vector<int64_t>, kInts)
  WEFT_BY_ADDRESS(std::vector<float>, kFloats)
  WEFT_BY_ADDRESS(std::vector<bool>, kBools)
  WEFT_BY_ADDRESS(std::vector<DType>, kTypes)
  WEFT_BY_ADDRESS(std::vector<std::string>, kStrings)
  WEFT_BY_ADDRESS(std::vector<PartialShape>, kShapes)
  WEFT_BY_ADDRESS(std::vector<Tensor>, kTensors)
#undef WEFT_BY_ADDRESS
  static RawArgument function(const char* name, const std::string& f) { return {name, Kind::kFunction, address(f)}; }
  static RawArgument functions(const char* name, const std::vector<std::string>& f) { return {name, Kind::kFunctions, address(f)}; }

  template <class T>
  const T& as() const {
    return *reinterpret_cast<const T*>(word);
  }

  const char* name;
  uint64_t word;
  Kind kind;

 private:
  RawArgument(const char* n, Kind k, uint64_t w, bool given = true) : name(n), word(w), kind(given ? k : Kind::kNone) {}
  template <class T>
  static uint64_t address(const T& v) {
    return reinterpret_cast<uint64_t>(&v);
  }
};
using RawArguments = std::initializer_list<RawArgument>;

Tensor call_for_one(const char* op, RawArguments arguments);
std::vector<Tensor> call_for_all(const char* op, RawArguments arguments);
// Of an op with these outputs, none of which is a list.
void call_into(std::initializer_list<Tensor*> outputs, const char* op, RawArguments arguments);

}  // namespace weft::api
