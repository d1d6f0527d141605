// Zstandard decompression. The library (libzstd.so.1) is loaded at the first use.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace weft_engine::kernels {

// Replaces `out`. DataLoss for bytes that are not Zstandard's, ResourceExhausted where there are more than `most`.
core::Status zstd_decompress(std::string_view in, std::string& out, size_t most);

}  // namespace weft_engine::kernels
