#include "cli/completion.h"

namespace weft::cli {
namespace {

constexpr const char* kBash = R"sh(_weft() {
  local cur=${COMP_WORDS[COMP_CWORD]}
  case ${COMP_WORDS[1]} in
    ops) COMPREPLY=($(compgen -W "--names --table --help $(weft ops --names)" -- "$cur")) ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "ops devices completion --version --help" -- "$cur")) ;;
  esac
}
complete -F _weft weft
)sh";

constexpr const char* kZsh = R"sh(#compdef weft
_weft() {
  if (( CURRENT == 2 )); then
    compadd ops devices completion --version --help
  elif [[ $words[2] == ops ]]; then
    compadd -- --names --table --help $(weft ops --names)
  elif [[ $words[2] == completion ]]; then
    compadd bash zsh fish
  fi
}
compdef _weft weft
)sh";

constexpr const char* kFish = R"sh(complete -c weft -f
complete -c weft -n __fish_use_subcommand -a ops -d 'List the ops, or explain one'
complete -c weft -n __fish_use_subcommand -a devices -d 'List the devices of this machine'
complete -c weft -n __fish_use_subcommand -a completion -d 'Print a completion script'
complete -c weft -n '__fish_seen_subcommand_from ops' -a '(weft ops --names)'
complete -c weft -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
)sh";

}  // namespace

std::string completion_script(std::string_view shell) { return shell == "zsh" ? kZsh : shell == "fish" ? kFish : kBash; }

}  // namespace weft::cli
