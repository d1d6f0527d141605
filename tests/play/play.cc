// Plays files that were recorded from TensorFlow, and compares.
//
//   play KIND [options] FILE...
//
// Kinds and their options are in the files beside this one. Usual options: --known FILE (what may differ: name, how many cases or "all", reason),
// --only NAME (one op, or sequences whose names start so), --fails (prints each case that does not agree), --part K/N (each Nth record, for N processes).
#include "tests/play/play.h"

#include <cstdio>
#include <cstdlib>

namespace weft_engine::testing {
namespace {

struct Kind {
  const char *name, *what;
  int (*play)(const Words&);
};

constexpr Kind kKinds[] = {
    {"cases", "op calls, eagerly; what the shape rules say of them", play_cases},
    {"gradients", "gradients, in graphs and on tapes", play_gradients},
    {"differences", "the same gradients against differences of what the ops compute", play_differences},
    {"state", "sequences of calls on stateful ops", play_state},
    {"shapes", "the shape rules on op calls of which less is known", play_shapes},
    {"mutation", "op calls and sequences that were tampered with", play_mutation},
    {"lowered", "op calls through the lowering rules, followed step by step", play_lowered},
    {"compiled", "op calls as machine code", play_compiled},
    {"kernels", "kernels to be timed on a GPU, into a folder", play_kernels},
    {"models", "models and graphs as a whole, as machine code", play_models},
};

}  // namespace

Arguments& Arguments::flag(std::string name, bool* value) {
  flags_.emplace_back(std::move(name), value);
  return *this;
}

Arguments& Arguments::value(std::string name, std::string* value) {
  texts_.emplace_back(std::move(name), value);
  return *this;
}

Arguments& Arguments::value(std::string name, int* value) {
  numbers_.emplace_back(std::move(name), value);
  return *this;
}

Arguments& Arguments::usual() { return value("--known", &known).value("--only", &only).flag("--fails", &fails).value("--part", &part); }

bool Arguments::mine(int record) const {
  const size_t slash = part.find('/');
  if (slash == std::string::npos) return true;
  const int of = std::atoi(part.c_str() + slash + 1);
  return of < 1 || record % of == std::atoi(part.c_str()) % of;
}

bool Arguments::parse(const Words& words) {
  const auto find = [](auto& list, const std::string& name) {
    for (auto& [own, value] : list) {
      if (own == name) return value;
    }
    return decltype(list[0].second)(nullptr);
  };
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      files.push_back(word);
    } else if (bool* b = find(flags_, word)) {
      *b = true;
    } else if (std::string* s = find(texts_, word); s && i + 1 < words.size()) {
      *s = words[++i];
    } else if (int* n = find(numbers_, word); n && i + 1 < words.size()) {
      *n = std::atoi(words[++i].c_str());
    } else {
      std::printf("play: no option %s here, or no value for it\n", word.c_str());
      return false;
    }
  }
  return true;
}

}  // namespace weft_engine::testing

int main(int argc, char** argv) {
  using namespace weft_engine::testing;  // NOLINT
  const Words words(argv + 1, argv + argc);
  for (const Kind& kind : kKinds) {
    if (!words.empty() && words[0] == kind.name) return kind.play(Words(words.begin() + 1, words.end()));
  }
  std::printf("usage: play KIND [--known FILE] [--only NAME] [--fails] [options] FILE...\n");
  for (const Kind& kind : kKinds) std::printf("  %-12s %s\n", kind.name, kind.what);
  return 2;
}
