// The `weft` command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "cli/completion.h"
#include "weft/context.h"
#include "weft/error.h"

namespace {

// Names that resemble what was typed: the same letters whatever their case, or containing it.
std::vector<std::string> similar(const std::string& typed) {
  auto lower = [](std::string s) {
    std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    return s;
  };
  std::vector<std::string> close;
  for (const auto& name : weft::op_names()) {
    if (lower(name).find(lower(typed)) != std::string::npos) close.push_back(name);
  }
  if (close.size() > 8) close.resize(8);
  return close;
}

int show_op(const std::string& name) {
  try {
    std::cout << weft::describe_op(name);
    return 0;
  } catch (const weft::Error& e) {
    std::cerr << "weft: there is no op '" << name << "'";
    const auto close = similar(name);
    if (!close.empty()) {
      std::cerr << "; did you mean";
      for (const auto& c : close) std::cerr << ' ' << c;
      std::cerr << "?";
    }
    std::cerr << "\nTry `weft ops` for the whole list.\n";
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"weft: TensorFlow 2's execution engine in modern C++.\n"
               "Looks at what this build of the engine knows; see the examples below each command's --help."};
  app.set_version_flag("--version", "weft " + weft::version() + " (TensorFlow 2.21 ops and C API)");
  app.require_subcommand(0, 1);

  std::string op;
  bool names = false, table = false;
  auto* ops = app.add_subcommand("ops", "List the ops, or explain one");
  ops->add_option("NAME", op, "an op, e.g. MatMul");
  ops->add_flag("--names", names, "only the names, one a line");
  ops->add_flag("--table", table, "a Markdown table of all ops with their kernels");
  ops->footer("Examples:\n  weft ops MatMul      signature, kernels and what it does\n  weft ops | grep -i pool\n  weft ops --table > ops.md");

  auto* devices = app.add_subcommand("devices", "List the devices of this machine");

  std::string shell;
  auto* completion = app.add_subcommand("completion", "Print a completion script for your shell");
  completion->add_option("SHELL", shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer("Examples:\n  source <(weft completion bash)\n  weft completion fish > ~/.config/fish/completions/weft.fish");

  CLI11_PARSE(app, argc, argv);
  try {
    if (*ops) {
      if (!op.empty()) return show_op(op);
      if (table) {
        std::cout << weft::op_table();
        return 0;
      }
      for (const auto& name : weft::op_names()) {
        if (names) {
          std::cout << name << '\n';
          continue;
        }
        const std::string text = weft::describe_op(name);
        std::cout << text.substr(0, text.find('\n') + 1);
      }
    } else if (*devices) {
      for (const auto& d : weft::devices()) std::cout << d.name << "  " << d.type << "  " << (d.memory_limit >> 20) << " MB\n";
    } else if (*completion) {
      std::cout << weft::cli::completion_script(shell);
    } else {
      std::cout << app.help();
    }
  } catch (const weft::Error& e) {
    std::cerr << "weft: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
