// numpy's files: .npy (one array) and .npz (a zip archive of them). Files come from anywhere: every length is checked
// before it is used, and what numpy would need Python for (pickled objects) is refused.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/tensor.h"

namespace weft::cli {

Tensor read_npy(const std::string& path);
Tensor parse_npy(std::string_view bytes, const std::string& name);  // name: for messages

// The arrays of an archive, in its order, without the ".npy" of their names.
std::vector<std::pair<std::string, Tensor>> read_npz(const std::string& path);
std::vector<std::pair<std::string, Tensor>> parse_npz(std::string_view bytes, const std::string& name);

void write_npy(const std::string& path, const Tensor& t);
std::string format_npy(const Tensor& t);
void write_npz(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays);

std::string read_whole_file(const std::string& path);
void write_whole_file(const std::string& path, std::string_view bytes);

}  // namespace weft::cli
