// Lets kernels write and run graphs as messages (op/graph_message.h).
#pragma once

namespace weft_engine::engine {

void set_graph_messages();

}  // namespace weft_engine::engine
