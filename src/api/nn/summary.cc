#include "api/nn/summary.h"

#include <algorithm>
#include <cstdio>

#include "api/nn/layer_state.h"
#include "api/nn/support.h"

namespace weft::nn::detail {

namespace {

// What a word takes on the screen.
size_t width_of(const std::string& s) {
  return size_t(std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Lines of at most `width`, broken at spaces; a longer word is cut.
std::vector<std::string> wrap(const std::string& s, size_t width) {
  std::vector<std::string> lines{""};
  for (size_t at = 0; at < s.size();) {
    size_t end = std::min(s.find_first_of(" \n", at), s.size());
    std::string word = s.substr(at, end - at);
    if (word.size() > width) word = word.substr(0, width - 1) + "…";
    if (!lines.back().empty() && width_of(lines.back()) + 1 + width_of(word) > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    if (end < s.size() && s[end] == '\n') lines.emplace_back();
    at = end + 1;
  }
  return lines;
}

std::string repeat(const char* s, size_t n) {
  std::string out;
  while (n-- > 0) out += s;
  return out;
}

struct Line {
  const char *left, *fill, *between, *right;
};
std::string rule(const Line& l, const std::vector<size_t>& widths) {
  std::string out = l.left;
  for (size_t i = 0; i < widths.size(); ++i) out += repeat(l.fill, widths[i]) + (i + 1 < widths.size() ? l.between : l.right);
  return out + "\n";
}

std::string row(const std::vector<std::string>& cells, const std::vector<size_t>& widths, const char* bar) {
  std::vector<std::vector<std::string>> lines;
  size_t height = 1;
  for (size_t i = 0; i < cells.size(); ++i) {
    lines.push_back(wrap(cells[i], widths[i] - 2));
    height = std::max(height, lines.back().size());
  }
  std::string out;
  for (size_t y = 0; y < height; ++y) {
    out += bar;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string text = y < lines[i].size() ? lines[i][y] : "";
      const std::string space(widths[i] - 2 - std::min(widths[i] - 2, width_of(text)), ' ');
      out += i == 2 ? " " + space + text + " " : " " + text + space + " ";  // numbers to the right
      out += bar;
    }
    out += "\n";
  }
  return out;
}

std::string grouped(int64_t n) {
  std::string s = std::to_string(n);
  for (int64_t i = int64_t(s.size()) - 3; i > 0; i -= 3) s.insert(size_t(i), ",");
  return s;
}

std::string readable(double bytes) {
  const char* units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  size_t u = 0;
  while (bytes >= 1024 && u < 5) {
    bytes /= 1024;
    ++u;
  }
  char text[40];
  snprintf(text, sizeof text, "%.2f %s", bytes, units[u]);
  return text;
}

int dtype_bytes(DType t) {
  switch (t) {
    case DType::float64:
    case DType::int64:
    case DType::uint64:
    case DType::complex64: return 8;
    case DType::float16:
    case DType::bfloat16:
    case DType::int16:
    case DType::uint16: return 2;
    case DType::int8:
    case DType::uint8:
    case DType::boolean: return 1;
    case DType::complex128: return 16;
    default: return 4;
  }
}

struct Count {
  int64_t n = 0;
  double bytes = 0;
};
Count count(const std::vector<Variable>& list, int which) {  // 0: all, 1: trainable, 2: the others
  Count c;
  for (const Variable& v : list) {
    if (which == 1 && !v.trainable()) continue;
    if (which == 2 && v.trainable()) continue;
    int64_t size = 1;
    for (int64_t d : v.shape()) size *= d;
    c.n += size;
    c.bytes += double(size) * dtype_bytes(v.dtype());
  }
  return c;
}

}  // namespace

SummaryRow row_of(const Layer& layer) {
  SummaryRow r;
  const LayerState& s = *layer.state();
  r.layer = layer.name() + " (" + layer.type() + ")";
  if (s.output_shapes.empty()) {
    r.shape = "?";
  } else {
    for (size_t i = 0; i < s.output_shapes.size(); ++i) r.shape += (i ? ", " : s.output_shapes.size() > 1 ? "[" : "") + text(s.output_shapes[i]);
    if (s.output_shapes.size() > 1) r.shape += "]";
  }
  const int64_t n = layer.count_params();
  r.params = s.called ? grouped(n) : "0 (unbuilt)";
  return r;
}

std::string print_summary(const std::string& kind, const Layer& model, const std::vector<SummaryRow>& rows) {
  const bool functional = kind == "functional";
  const std::vector<size_t> widths = functional ? std::vector<size_t>{21, 19, 12, 19} : std::vector<size_t>{33, 24, 15};
  std::vector<std::string> head{"Layer (type)", "Output Shape", "Param #"};
  if (functional) head.push_back("Connected to");
  std::string out = "Model: \"" + model.name() + "\"\n";
  out += rule({"┏", "━", "┳", "┓"}, widths) + row(head, widths, "┃") + rule({"┡", "━", "╇", "┩"}, widths);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i) out += rule({"├", "─", "┼", "┤"}, widths);
    std::vector<std::string> cells{rows[i].layer, rows[i].shape, rows[i].params};
    if (functional) cells.push_back(rows[i].connected);
    out += row(cells, widths, "│");
  }
  out += rule({"└", "─", "┴", "┘"}, widths);
  const std::vector<Variable> all = model.weights();
  auto line = [&](const char* what, int which) {
    const Count c = count(all, which);
    return std::string(" ") + what + " params: " + grouped(c.n) + " (" + readable(c.bytes) + ")\n";
  };
  return out + line("Total", 0) + line("Trainable", 1) + line("Non-trainable", 2);
}

}  // namespace weft::nn::detail
