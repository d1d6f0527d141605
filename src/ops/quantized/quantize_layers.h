// Which products and convolutions can be quantised, and the nodes that take their place (saved_model/quantize.h).
#pragma once

#include "graph/layer_rules.h"

namespace weft_engine::ops {

const graph::LayerRules& quantize_layers();

}  // namespace weft_engine::ops
