#include "cli/completion.h"

#include <utility>
#include <vector>

namespace weft::cli {
namespace {

// Each command with what is in its help and the options that are completed. "path": it takes files.
struct Command {
  const char *name, *does, *options;
  bool path;
};
constexpr const char* kLoad = "--tags --threads --devices --disable --init --verify --help ";
constexpr Command kCommands[] = {
    {"show", "Show what a SavedModel, a graph or a checkpoint holds", "--json --nodes --verify --help ", true},
    {"run", "Run a model once", "--signature --input --output --save --function --fetch --target --cast ", true},
    {"graph", "Draw a graph", "--svg --dot --signature --function --optimized --saved --limit --depth ", true},
    {"freeze", "Write a model as one graph, with its variables as constants", "--output --signature --inputs --outputs ", true},
    {"quantize", "Write a model in 8-bit numbers", "--output --calibrate --test --labels --keep --least-depth --batch --signature ", true},
    {"optimize", "Run the optimisations over a graph", "--output --passes --disable --list --signature --init --inputs --outputs --help ", true},
    {"trace", "Record what runs when",
     "--cluster --seconds --tls-cert --tls-key --tls-ca --tls-name --token-file --signature --input --output --runs --warmup --rows --batch --cast ",
     true},
    {"bench", "Measure latency, throughput and memory", "--signature --input --batch --clients --duration --cast --json ", true},
    {"ops", "List the ops, or explain one", "--names --table --help ", false},
    {"server", "Serve a task of a cluster",
     "--cluster --job --task --port --devices --threads --bind --tls-cert --tls-key --tls-ca --tls-name --token-file --max-message-mb --max-streams "
     "--max-contexts --help ",
     true},
    {"launch", "Run a program as all tasks of a cluster on this machine", "--count --job --ps --chief --log-dir --grace --secure --help ", true},
    {"devices", "List the devices of this machine, or of a cluster",
     "--cluster --timeout --tls-cert --tls-key --tls-ca --tls-name --token-file --help ", true},
    {"completion", "Print a completion script", "bash zsh fish ", false},
};

bool loads(const Command& c) {
  const std::string_view n = c.name;
  return n == "run" || n == "graph" || n == "freeze" || n == "trace" || n == "bench";
}
std::string options_of(const Command& c) { return std::string(c.options) + (loads(c) ? kLoad : ""); }
// Asked of the command itself when they are needed.
std::string more_of(const Command& c) {
  const std::string_view n = c.name;
  return n == "ops" ? "$(weft ops --names)" : "";
}

std::string names() {
  std::string out;
  for (const auto& c : kCommands) out += std::string(c.name) + " ";
  return out;
}

std::string bash() {
  std::string out =
      "_weft() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  case $prev in\n    --disable|--passes) COMPREPLY=($(compgen -W \"$(weft optimize --list | cut -d' ' -f1)\" -- \"$cur\")); return "
      ";;\n  esac\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const auto& c : kCommands) {
    out += std::string("    ") + c.name + ") COMPREPLY=($(compgen -W \"" + options_of(c) + more_of(c) + "\" -- \"$cur\")";
    out += c.path ? " $(compgen -f -- \"$cur\")) ;;\n" : ") ;;\n";
  }
  return out + "    *) COMPREPLY=($(compgen -W \"" + names() +
         "--version --help\" -- \"$cur\")) ;;\n  esac\n}\ncomplete -o filenames -F _weft weft\n";
}

std::string zsh() {
  std::string out = "#compdef weft\n_weft() {\n  if (( CURRENT == 2 )); then\n    compadd -- " + names() +
                    "--version --help\n    return\n  fi\n  case $words[2] in\n";
  for (const auto& c : kCommands) {
    out += std::string("    ") + c.name + ") compadd -- " + options_of(c) + more_of(c);
    out += c.path ? "; _files ;;\n" : ";;\n";
  }
  return out + "  esac\n}\ncompdef _weft weft\n";
}

std::string fish() {
  std::string out;
  for (const auto& c : kCommands) {
    const std::string when = std::string("-n '__fish_seen_subcommand_from ") + c.name + "'";
    out += std::string("complete -c weft -n __fish_use_subcommand -f -a ") + c.name + " -d '" + c.does + "'\n";
    const std::string all = options_of(c);
    for (size_t from = 0, space; (space = all.find(' ', from)) != std::string::npos; from = space + 1) {
      const std::string word = all.substr(from, space - from);
      if (word.empty()) continue;
      out += "complete -c weft " + when + (word.starts_with("--") ? " -l " + word.substr(2) : " -f -a " + word) + "\n";
    }
  }
  return out + "complete -c weft -n '__fish_seen_subcommand_from ops' -f -a '(weft ops --names)'\n";
}

}  // namespace

std::string completion_script(std::string_view shell) { return shell == "zsh" ? zsh() : shell == "fish" ? fish() : bash(); }

}  // namespace weft::cli
