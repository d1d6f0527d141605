#include "tests/support/report.h"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace weft_engine::testing {

Report::Report(const std::string& known_path, bool show) : show_(show) {
  std::ifstream file(known_path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name, count;
    if (!line.starts_with('#') && fields >> name >> count) allowed_[name] = count == "all" ? kAnyNumber : std::atoi(count.c_str());
  }
}

void Report::note(Tally& tally, const std::string& name, const std::string& where, const std::string& why) {
  if (tally.first.empty()) tally.first = where.empty() ? why : where + ": " + why;
  if (show_) std::printf("%s %s: %s\n", name.c_str(), where.c_str(), why.substr(0, 300).c_str());
}

void Report::differs(const std::string& name, const std::string& where, const std::string& why) {
  Tally& t = tallies_[name];
  ++t.differ;
  note(t, name, where, why);
}

void Report::refused(const std::string& name, const std::string& where, const std::string& why) {
  ++tallies_[name].refused;
  if (show_) std::printf("%s %s: refused: %s\n", name.c_str(), where.c_str(), why.substr(0, 300).c_str());
}

void Report::add(const std::string& name, const std::string& where, const std::string& why) {
  if (why.empty()) agrees(name);
  else differs(name, where, why);
}

int Report::cases(const std::string& name) const {
  const auto it = tallies_.find(name);
  return it == tallies_.end() ? 0 : it->second.agree + it->second.differ + it->second.refused;
}

int Report::finish(const std::string& what, bool each) const {
  int agree = 0, differ = 0, refused = 0, whole = 0, worse = 0;
  for (const auto& [name, t] : tallies_) {
    agree += t.agree, differ += t.differ, refused += t.refused;
    whole += t.differ == 0 && t.agree > 0;
    const auto it = allowed_.find(name);
    const int allowed = it == allowed_.end() ? 0 : it->second;
    const bool known = t.differ <= allowed && (!each || t.agree > 0 || allowed > 0);
    worse += !known;
    if (known && allowed < kAnyNumber && t.differ < allowed)
      std::printf("%s: %d differ, the known file says %d: bring it up to date\n", name.c_str(), t.differ, allowed);
    if (t.differ > 0 || !known)
      std::printf("%s %-36s %3d of %3d differ  %s\n", known ? "known" : "WORSE", name.c_str(), t.differ, cases(name), t.first.substr(0, 200).c_str());
  }
  std::printf("%s: %d agree, %d differ, %d refused; %d of %zu names agree wholly\n", what.c_str(), agree, differ, refused, whole, tallies_.size());
  return worse > 0 || agree == 0;
}

}  // namespace weft_engine::testing
