// Resources of one step alone, in the container step_container(step_id). Few programs have any (arrays and stacks of old graphs,
// messages outside of partitions), so a step that went well clears its container only if some step of the process had one.
#pragma once

namespace weft_engine::op {

void note_step_resource();
bool steps_have_resources();

}  // namespace weft_engine::op
