// Lets kernels write and run graphs as messages (op/graph_message.h).
#pragma once

namespace weft::engine {

void set_graph_messages();

}  // namespace weft::engine
