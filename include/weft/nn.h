// Neural networks under Keras' names: layers, models, and how weights start.
#pragma once

#include "weft/nn/activations.h"
#include "weft/nn/attention.h"
#include "weft/nn/convolution.h"
#include "weft/nn/core.h"
#include "weft/nn/initializers.h"
#include "weft/nn/layer.h"
#include "weft/nn/merging.h"
#include "weft/nn/model.h"
#include "weft/nn/normalization.h"
#include "weft/nn/recurrent.h"
