// The kinds of recorded files that `play` knows: each takes the words after its name and gives the exit status.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft_engine::testing {

using Words = std::vector<std::string>;

int play_cases(const Words& words);
int play_gradients(const Words& words);
int play_differences(const Words& words);
int play_state(const Words& words);
int play_shapes(const Words& words);
int play_mutation(const Words& words);
int play_lowered(const Words& words);
int play_compiled(const Words& words);
int play_kernels(const Words& words);
int play_models(const Words& words);

// The options of a kind; all other words are files.
class Arguments {
 public:
  Arguments& flag(std::string name, bool* value);
  Arguments& value(std::string name, std::string* value);
  Arguments& value(std::string name, int* value);
  // --known FILE, --only NAME, --fails, --part K/N (records K, K + N, K + 2 N ...): what most kinds have.
  Arguments& usual();
  // False, and a line printed, for an option that the kind does not have or one without its value.
  bool parse(const Words& words);
  // Is the record, counted over all files, in the part that was asked for?
  bool mine(int record) const;

  std::vector<std::string> files;
  std::string known, only, part;
  bool fails = false;

 private:
  std::vector<std::pair<std::string, bool*>> flags_;
  std::vector<std::pair<std::string, std::string*>> texts_;
  std::vector<std::pair<std::string, int*>> numbers_;
};

}  // namespace weft_engine::testing
