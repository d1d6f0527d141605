// What this library takes of the engine: places for addresses, in the order of the engine's table. Made by cmake/companion.py.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft_engine::remote {

struct EngineImports {
  uint64_t key;
  void** functions;  // read by the jumps that stand for the engine's functions
  size_t num_functions;
  const int32_t* variables;  // each: the distance from here to the entry of the global offset table
  size_t num_variables;
};
extern const EngineImports engine_imports;

}  // namespace weft_engine::remote
