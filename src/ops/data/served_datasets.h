#pragma once

namespace weft_engine::ops::data {

// Lets servers make datasets from graphs (op/data_service.h); once, when the engine is made.
void serve_datasets();

}  // namespace weft_engine::ops::data
