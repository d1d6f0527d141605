// Families of few ops, listed in all.cc as those of all.h are. They stand here because every op file includes that one.
#pragma once

namespace weft::op {
class Registry;
}

namespace weft::ops {

[[gnu::cold]] void clustering(op::Registry& r);
[[gnu::cold]] void composite_variant(op::Registry& r);
[[gnu::cold]] void debug_numeric(op::Registry& r);
[[gnu::cold]] void norm_global(op::Registry& r);
[[gnu::cold]] void record_input(op::Registry& r);
[[gnu::cold]] void remap(op::Registry& r);
[[gnu::cold]] void sdca(op::Registry& r);

}  // namespace weft::ops
