// States of a module that are no variables: the counters of random ops, uint64[2], zeros at first. Whoever calls the code keeps them.
// Their names end as follows; those without seeds may begin anywhere.
#pragma once

namespace weft_engine::compiler {

inline constexpr char kGeneratorState[] = "/generator", kUnseededGeneratorState[] = "/any_generator";

}  // namespace weft_engine::compiler
