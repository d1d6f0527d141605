"""batches_test.py BATCHES COMPILER: files that share private names compile in one batch, each with its own; others stay apart."""

import pathlib
import subprocess
import sys

SCRIPT, COMPILER = sys.argv[1:]
pathlib.Path("b.h").write_text("#pragma once\nconstexpr int kB = 3;\n")  # beside the files that include it
FILES = {
    # The same private names, one of them a type in std::function<...>; `twice` of b.cc is a local variable of a.cc.
    "a.cc": "#include <functional>\nstruct Status {};\nnamespace {\nstd::function<Status(int)> listener;\nint helper() { return 1; }\n}\nint a() { int twice = helper(); return twice; }\n",
    "b.cc": '#include "b.h"\n'
    + "namespace {\nint helper() { return 10; }\nint twice() { return 2 * helper(); }\n}\nint b() { return twice() + kB; }\n",
    # A private name that is a member somewhere in the file keeps its name: apart from all that say it.
    "c.cc": "struct C { int helper; };\nnamespace {\nint helper() { return 100; }\n}\nint c() { C x{helper()}; return x.helper; }\n",
    # So does one before headers that come behind code.
    "d.cc": "#define WEFT_D 1\n#include <vector>\nstatic int helper() { return 1000; }\nint d() { return helper(); }\n",
    # Another meaning of a name, for the whole of its namespace.
    "e.cc": "namespace other {\nstruct Value { int v; };\n}\nnamespace ns {\nusing other::Value;\nint e() { return Value{5}.v; }\n}\n",
    "f.cc": "namespace ns {\ninline namespace g {\nstruct Value { int w; };\n}\nint f() { return Value{7}.w; }\n}\n",
    # One that the file also gives to others keeps its name, too.
    "g.cc": "namespace {\nint pad(int x) { return x; }\n}\nint pad() { return pad(9); }\n",
    "h.cc": "namespace {\nint pad() { return 11; }\n}\nint h() { return pad(); }\n",
    "main.cc": '#include <cstdio>\nint a(); int b(); int c(); int d(); int pad(); int h();\nnamespace ns { int e(); int f(); }\nint main() { std::printf("%d", a() + b() + c() + d() + pad() + h() + ns::e() + ns::f()); }\n',
}


def batches(lines, *names):
    out = subprocess.run(
        [sys.executable, SCRIPT, str(lines), f"units/{lines}", *names], check=True, capture_output=True, text=True
    )
    return out.stdout.split()


for name, text in FILES.items():
    pathlib.Path(name).write_text(text)
units = batches(1000, *FILES)
members = [[name for name in FILES if f'{name}"' in pathlib.Path(unit).read_text()] for unit in units]
assert members == [["a.cc", "b.cc", "e.cc", "g.cc"], ["c.cc", "f.cc", "h.cc", "main.cc"], ["d.cc"]], members
assert len(batches(8, "a.cc", "b.cc")) == 2
before = pathlib.Path(units[0]).stat().st_mtime_ns
assert (
    batches(1000, *FILES) == units and pathlib.Path(units[0]).stat().st_mtime_ns == before
)  # nothing to compile again
subprocess.run([COMPILER, "-std=c++20", "-O0", *units, "-o", "program"], check=True)
assert subprocess.run(["./program"], capture_output=True, text=True).stdout == str(1 + 23 + 100 + 1000 + 5 + 7 + 9 + 11)
