"""What a companion library takes of the engine (docs/architecture.md, companions): companion.py OBJDUMP WRAPPED OUT OBJECT...

The engine's symbols are hidden, so the dynamic linker cannot bind a library to them. Instead the engine hands the library a table of addresses when it is loaded. This
script reads the object files of the library and writes into the folder OUT
  engine_table.cc   for the engine: the addresses of all that the library takes, as distances from the table
  imports.cc        for the library: a jump for each function, and where the addresses of variables have to be put
  exports.map       for the library: its one function, and the variables, which must be reached through the global offset table
A table fits the library that it was written for alone: both begin with a number made of all names."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

ENGINE = "11weft_engine"
OWN = "_ZN11weft_engine6remote"
SYMBOL = re.compile(r"^[0-9a-f]{16} (.{7}) (\S+)\t[0-9a-f]+ (?:\.hidden |\.internal |\.protected )?(\S+)$")


def symbols(objdump: str, objects: list[str]) -> tuple[set[str], set[str], set[str]]:
    """Names that are defined, that are not, and variables of headers: each program or library has its own unless it is told of the engine's."""
    defined, undefined, variables = set(), set(), set()
    for line in subprocess.run(
        [objdump, "-t", *objects], check=True, capture_output=True, text=True
    ).stdout.splitlines():
        match = SYMBOL.match(line)
        if not match:
            continue
        flags, section, name = match.groups()
        if section == "*UND*":
            undefined.add(name)
            continue
        defined.add(name)
        shared = flags[0] in "uw!" or flags[1] == "w"
        writable = section.startswith((".bss", ".data", ".tbss", ".tdata")) and not section.startswith(".data.rel.ro")
        if (
            shared and writable and name.startswith("_Z") and ENGINE in name and not name.startswith(OWN)
        ):  # sanitizers have names of their own
            variables.add(name)
    return defined, undefined - defined, variables


def is_function(mangled: list[str]) -> dict[str, bool]:
    plain = subprocess.run(
        ["c++filt"], input="\n".join(mangled), check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return {name: "(" in text for name, text in zip(mangled, plain, strict=True)}


def main() -> None:
    objdump, wrapped, out = sys.argv[1:4]
    _, undefined, variables = symbols(
        objdump, [file for file in sys.argv[4:] if file.endswith(".o")]
    )  # CMake counts precompiled headers among them
    functions = sorted("__wrap_" + name for name in wrapped.split(",") if name in undefined)
    declared = []
    for name, function in is_function(sorted(n for n in undefined if ENGINE in n and not n.startswith(OWN))).items():
        if name.startswith(("_ZTV", "_ZTI")):
            sys.exit(
                f"companion.py: {name} is the table or the type of a class whose first virtual function is in a .cc file of the engine; define it in the header"
            )
        if function:
            functions.append(name)
        else:
            declared.append(name)
    data = sorted(variables | set(declared))
    key = hashlib.sha256("\n".join(functions + [""] + data).encode()).hexdigest()[:16]

    table = [
        "// Made by cmake/companion.py.",
        'asm(R"(',
        "  .section .rodata",
        "  .balign 8",
        "  .globl weft_engine_table",
        "  .hidden weft_engine_table",
        "weft_engine_table:",
    ]
    table += (
        [f"  .quad 0x{key}"]
        + [f"  .long {name} - weft_engine_table" for name in functions + data]
        + ["  .text", ')");', ""]
    )

    slots = len(functions)
    imports = [
        "// Made by cmake/companion.py.",
        "#include <cstdint>",
        'asm(R"(',
        '  .section .weft_engine,"aw",@progbits',
        "  .balign 4096",
        "weft_engine_slots:",
    ]
    imports += [f"  .skip {8 * slots}", "  .balign 4096", "  .text"]
    for i, name in enumerate(functions):
        imports += [
            f"  .globl {name}",
            f"  .hidden {name}",
            f"  .type {name}, @function",
            f"{name}:",
            "  endbr64",
            f"  jmp *weft_engine_slots+{8 * i}(%rip)",
        ]
    # Variables that the engine alone defines; nothing reads the ones here.
    imports += ["  .bss", "  .balign 64"]
    for name in declared:
        imports += [f"  .globl {name}", f"  .type {name}, @object", f"{name}:", "  .skip 64"]
    imports += (
        ["  .section .rodata", "  .balign 4", "weft_engine_variables:"]
        + [f"  .long {name}@GOTPCREL" for name in data]
        + ["  .text", ')");']
    )
    imports += [
        "",
        'extern "C" {',
        f'extern void* weft_slots[{max(slots, 1)}] __asm__("weft_engine_slots") __attribute__((visibility("hidden")));',
        f'extern const int32_t weft_variables[{max(len(data), 1)}] __asm__("weft_engine_variables") __attribute__((visibility("hidden")));',
        "}",
        '#include "remote/grpc/engine_imports.h"',
        "namespace weft_engine::remote {",
        f"const EngineImports engine_imports{{0x{key}, weft_slots, {slots}, weft_variables, {len(data)}}};",
        "}",
        "",
    ]
    names = "".join(f"    {name};\n" for name in ["weft_cluster_library", *data])
    for file, text in {
        "engine_table.cc": "\n".join(table),
        "imports.cc": "\n".join(imports),
        "exports.map": "{\n  global:\n" + names + "  local:\n    *;\n};\n",
    }.items():
        path = Path(out) / file
        if not path.exists() or path.read_text() != text:  # what depends on it is not built again for nothing
            path.write_text(text)


main()
