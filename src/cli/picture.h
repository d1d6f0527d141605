// A graph as boxes and wires: what to draw (picture.cc: big scopes collapsed, constants inside their readers, functions
// inside their callers), where (layout.cc: layers from top to bottom) and how (svg.cc, dot.cc).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "weft/graph.h"

namespace weft::cli {

struct Point {
  double x = 0, y = 0;
};

struct Picture;

struct Box {
  enum class Kind { kNode, kGroup, kInput, kOutput, kVariable };
  Kind kind = Kind::kNode;
  std::string title;               // the op; of a group its scope
  std::vector<std::string> lines;  // below it: the name, constants it reads
  std::string device, tooltip;
  std::vector<Picture> inner;         // bodies of functions that it calls
  double x = 0, y = 0, w = 0, h = 0;  // in its picture
};

struct Wire {
  int from = 0, to = 0;
  std::string label;  // type and shape, or how many tensors
  bool control = false;
  std::vector<Point> points;  // from the bottom of one to the top of the other
};

struct Picture {
  std::string title;
  std::vector<Box> boxes;
  std::vector<Wire> wires;
  double w = 0, h = 0;
};

struct PictureOptions {
  int limit = 150;                                 // boxes in one picture, before scopes are collapsed
  int depth = 3;                                   // of functions inside functions
  std::map<std::string, std::string> labels = {};  // what to call some nodes of the outermost picture
};

using FindFunction = std::function<FunctionBody(const std::string& name)>;  // throws where it cannot
Picture make_picture(const std::string& title, const std::vector<NodeInfo>& nodes, const FindFunction& find, const PictureOptions& options);

// Gives every box and wire its place, inner pictures first.
void lay_out(Picture& picture);

std::string to_svg(const Picture& picture);
std::string to_dot(const Picture& picture);

// Sizes that layout and drawing agree on.
inline constexpr double kCharWidth = 6.6, kLineHeight = 15, kPadding = 8;

}  // namespace weft::cli
