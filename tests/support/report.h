// How recorded cases came out, name by name (an op, a sequence), beside a file of known differences.
#pragma once

#include <map>
#include <string>

namespace weft_engine::testing {

class Report {
 public:
  // The known file has lines "name N reason": so many cases of that name may differ, "all" for any number. Lines with # are for readers. Without a file none may.
  // With `show` every case that does not agree is printed.
  explicit Report(const std::string& known_path = "", bool show = false);
  void allow(const std::string& name, int cases) { allowed_[name] = cases; }

  void agrees(const std::string& name) { ++tallies_[name].agree; }
  void differs(const std::string& name, const std::string& where, const std::string& why);
  // Neither right nor wrong: what cannot be played.
  void refused(const std::string& name, const std::string& where, const std::string& why);
  // `why` is empty where a case agrees.
  void add(const std::string& name, const std::string& where, const std::string& why);

  // How many cases of that name there were so far.
  int cases(const std::string& name) const;
  // Prints the names that do not agree wholly, with the first reason, and the sums after `what`. The exit status: 0 if something agrees and nothing differs that is not
  // known. With `each` every name must agree in some case, or be known.
  int finish(const std::string& what, bool each = false) const;

 private:
  struct Tally {
    int agree = 0, differ = 0, refused = 0;
    std::string first;
  };
  void note(Tally& tally, const std::string& name, const std::string& where, const std::string& why);
  std::map<std::string, Tally> tallies_;
  std::map<std::string, int> allowed_;
  bool show_;
};

constexpr int kAnyNumber = 1 << 30;

}  // namespace weft_engine::testing
