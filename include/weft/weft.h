// All of weft's C++ API, except the wrappers of every single op (weft/raw.h).
#pragma once

#include "weft/call.h"
#include "weft/context.h"
#include "weft/data.h"
#include "weft/error.h"
#include "weft/function.h"
#include "weft/graph.h"
#include "weft/inspect.h"
#include "weft/math.h"
#include "weft/module.h"
#include "weft/nest.h"
#include "weft/saved_model.h"
#include "weft/tape.h"
#include "weft/tensor.h"
#include "weft/trace.h"
#include "weft/types.h"
#include "weft/variable.h"
