// The engine's namespaces under their short names, for the code that implements the public API in namespace weft.
#pragma once

namespace weft_engine {
namespace core {}
namespace op {}
namespace graph {}
namespace autodiff {}
namespace io {}
namespace wire {}
namespace runtime {}
namespace eager {}
namespace trace {}
namespace saved_model {}
namespace compiler {}
namespace jit {}
namespace ir {}
namespace kernels {}
namespace ops {}
namespace engine {}
}  // namespace weft_engine

namespace weft {
namespace core = weft_engine::core;
namespace op = weft_engine::op;
namespace graph = weft_engine::graph;
namespace autodiff = weft_engine::autodiff;
namespace io = weft_engine::io;
namespace wire = weft_engine::wire;
namespace runtime = weft_engine::runtime;
namespace eager = weft_engine::eager;
namespace trace = weft_engine::trace;
namespace saved_model = weft_engine::saved_model;
namespace compiler = weft_engine::compiler;
namespace jit = weft_engine::jit;
namespace ir = weft_engine::ir;
namespace kernels = weft_engine::kernels;
namespace engine = weft_engine::engine;
}  // namespace weft
