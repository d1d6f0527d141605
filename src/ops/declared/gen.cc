// Turns declared.txt into the table of ops/declared.cc, at build time.
//   weft_declaregen OUTPUT declared.txt
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

// Escaped so that what follows in the next literal cannot change the meaning of the last character.
std::string literal(const std::string& line) {
  std::string out = "\"";
  for (char c : line) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\\0\"";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "weft_declaregen OUTPUT declared.txt\n");
    return 2;
  }
  std::ifstream in(argv[2]);
  std::string text, last;
  std::vector<size_t> begins;
  size_t size = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '+') {
      if (line <= last) {
        std::fprintf(stderr, "%s: %s is not behind %s in order\n", argv[2], line.c_str(), last.c_str());
        return 1;
      }
      begins.push_back(size);
      last = line;
    } else if (std::string("<>&=!~").find(line[0]) == std::string::npos || begins.empty()) {
      std::fprintf(stderr, "%s: cannot read '%s'\n", argv[2], line.c_str());
      return 1;
    }
    text += "    " + literal(line) + "\n";
    size += line.size() + 1;
  }
  if (begins.empty()) {
    std::fprintf(stderr, "%s: no op\n", argv[2]);
    return 1;
  }
  std::ofstream out(argv[1]);
  out << "// Written by weft_declaregen.\nconstexpr char kText[] =\n" << text << "    \"\";\nconstexpr uint32_t kBegins[] = {";
  for (size_t i = 0; i < begins.size(); ++i) out << (i % 16 ? ", " : i ? ",\n    " : "\n    ") << begins[i];
  out << "};\n";
  out.close();
  return out ? 0 : 1;
}
