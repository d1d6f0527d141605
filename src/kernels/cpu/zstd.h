// Zstandard decompression. The library (libzstd.so.1) is loaded at the first use.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace weft::kernels {

// Replaces `out`. DataLoss for bytes that are not Zstandard's.
core::Status zstd_decompress(std::string_view in, std::string& out);

}  // namespace weft::kernels
