"""Runs docs/compiling.md as it is printed: its shell commands, its two programs, in a folder with the model "mlp".

docs.py WEFT_COMMAND PAGE MODELS.tar.xz WORK_DIR INCLUDE_DIR
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

weft, page, archive, work, include = (pathlib.Path(a).resolve() for a in sys.argv[1:6])
text = page.read_text()
shell = re.findall(r"```sh\n(.*?)```", text, re.S)
programs = [b for b in re.findall(r"```cpp\n(.*?)```", text, re.S) if "#include" in b]
assert len(shell) == 3 and len(programs) == 2, "the page has other blocks than this test knows"
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
with tarfile.open(archive) as t:
    members = [m for m in t.getmembers() if m.name.split("/")[1:2] == ["mlp"]]
    for m in members:
        m.mode |= 0o200  # a folder is moved by who may write to it
    t.extractall(work, members)
shutil.move(next(work.glob("*/mlp")), work / "mlp")
environment = dict(os.environ, PATH=f"{weft.parent}:{os.environ['PATH']}")


def run(commands):
    done = subprocess.run(["sh", "-ec", commands], cwd=work, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{commands}\nfailed: {done.stdout}{done.stderr}")
    return done.stdout


out = run(shell[0])
assert "check serving_default y: agrees" in out and "compiled in" in out, out
(work / "main.cc").write_text(programs[0])
rows = run(shell[1]).splitlines()
assert len(rows) == 2 and all(len(r.split()) == 10 for r in rows), rows
size = (work / "demo").stat().st_size
assert size < 500_000, size  # 407 kB of it are weights
run(shell[2])
(work / "learn.cc").write_text(
    programs[1]
    + """
#include <vector>
int main() {
  static Net net, other;
  std::vector<float> x(4 * 784);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i % 11) / 11;
  const int32_t y[] = {0, 1, 2, 3};
  float first = 0;
  for (int i = 0; i < 5; ++i) {
    if (!learn(net, x.data(), y, 4)) return 1;
    if (i == 0) first = *net.train.loss();
  }
  // It learns, and another instance goes on from the file.
  if (!(*net.train.loss() < first)) return 2;
  std::string why;
  if (!weft::aot::load_checkpoint(other, "step", &why)) return std::puts(why.c_str()), 3;
  if (!learn(net, x.data(), y, 4) || !learn(other, x.data(), y, 4)) return 4;
  if (*net.train.loss() != *other.train.loss()) return 5;
  // A damaged file is refused, and nothing is lost.
  if (FILE* f = std::fopen("step.data-00000-of-00001", "r+b")) {
    std::fseek(f, 100, SEEK_SET);
    std::fputc(1, f);
    std::fputc(2, f);
    std::fclose(f);
  }
  if (weft::aot::load_checkpoint(other, "step", &why) || why.find("checksum") == std::string::npos) return 6;
  return learn(other, x.data(), y, 4) ? 0 : 7;
}
"""
)
run(f"g++ -std=c++17 -Wall -Wextra -Werror -O1 -I. -I{include} learn.cc trained.o -lm -o learn && ./learn")


print("the page runs as printed; the stripped program has", size, "bytes")
