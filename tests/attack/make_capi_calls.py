"""Writes the table of calls for capi_random.cc: every function that TensorFlow's C headers declare, with arguments drawn by their types and names.

make_capi_calls.py INCLUDE OUT
"""

import pathlib
import re
import sys

# Left out: they wait for ever by design, end the process by their name, or take tables of functions that no random value can be.
LEFT_OUT = {
    "TF_ServerJoin": "waits for ever",
    "TF_PickUnusedPortOrDie": "ends the process where no port is free",
    "TF_DeleteShapeAndTypeListArray": "frees an array that only TFE_InferShapes makes",
    "TFE_RegisterCustomDevice": "calls back into a table of functions",
    "TFE_IsCustomDevice": "calls back into a table of functions",
    "TFE_NewCustomDeviceTensorHandle": "calls back into a table of functions",
    "TF_InitPlugin": "a plug-in's own",
    "TF_FinishWhile": "takes a struct that TF_NewWhile fills; see capi_misuse_graph.c",
    "TF_AbortWhile": "as TF_FinishWhile",
    "TF_NewWhile": "as TF_FinishWhile",
    "TF_GetSymbolFromLibrary": "takes what dlopen gave",
    "TF_DeleteStatus": "the status is used by all calls",
    "TSL_DeleteStatus": "the status is used by all calls",
    "TF_StringDealloc": "frees what a string points to",
}
# What they return belongs to one of their arguments, and is not to be deleted.
BORROWED = {
    "TF_ExecutionContextGetTFEContext",
    "TFE_OpGetContext",
    "TF_OutputListGet",
    "TF_AbstractTensorGetEagerTensor",
    "TFE_OpGetFlatInput",
    "TFE_OpGetAttrs",
    "TF_TensorMaybeMove",
    "TF_TensorSpecShape",
}
# They take one of their arguments over, beside all whose names say so.
TAKES = {
    "TF_CreateAbstractTensorFromEagerTensor": 0,
    "TF_FinalizeFunction": 0,
    "TF_RegisterKernelBuilder": 1,
    "TF_RegisterKernelBuilderWithKernelDef": 2,
    "TF_RegisterOpDefinition": 0,
    "TF_CloseWritableFile": 0,
    "TF_StringStreamDone": 0,
    "TF_JoinThread": 0,
    "TF_RunAsyncOpKernelDoneCallback": 0,
}


def split(args):
    out, depth = [""], 0
    for c in args:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            out.append("")
        else:
            out[-1] += c
    return [a for a in (" ".join(a.split()) for a in out) if a not in ("", "void")]


def typed(arg):
    """The type and the name of a parameter."""
    function = re.match(r"(.*\(\*)(\w+)(\).*)", arg)
    if function:
        return function[1] + function[3], function[2]
    m = re.match(r"(.*?[\s*&])(\w+)(\[\d*\])?$", arg)
    if (
        not m
        or m[2] in ("int", "char", "bool")
        or re.fullmatch(r"(const |unsigned )*\w+\s?[*&]*", arg)
        and not re.search(r"[*&\s]\w+$", arg)
    ):
        return arg, ""
    if re.fullmatch(r"(const|unsigned)\s+", m[1]):
        return arg, ""
    return m[1].strip() + ("*" if m[3] else ""), m[2]


def functions(include):
    for header in sorted(pathlib.Path(include).rglob("*.h")):
        text = re.sub(r"//.*", "", header.read_text())
        for m in re.finditer(r"TF_CAPI_EXPORT\s+extern\s+([^;{]*?)\b(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*;", text):
            yield " ".join(m[1].split()), m[2], [typed(a) for a in split(m[3])]


def main():
    include, out = sys.argv[1:]
    lines, seen = [], set()
    for returns, name, args in functions(include):
        if name in LEFT_OUT or name in seen:
            continue
        seen.add(name)
        body = [f'  auto a{i} = draw<std::decay_t<{t.replace("(*)", "(*)")}>>("{n}");' for i, (t, n) in enumerate(args)]
        call = f"{name}({', '.join(f'a{i}' for i in range(len(args)))})"
        pointer = returns.endswith("*") and "char" not in returns and "void" not in returns
        taken = TAKES.get(name, 0 if re.search(r"Delete(?!File|Dir|Recursively|PRun)", name) else None)
        if taken is not None and args:
            body.append(f"  forget(a{taken});")
        body.append(
            f"  keep({call});"
            if pointer and name not in BORROWED
            else f"  (void){call};"
            if returns != "void"
            else f"  {call};"
        )
        for i, (t, _) in enumerate(args):
            if re.fullmatch(r"(TF|TFE)_\w+\*\*", t):
                body.append(f"  keep_all(a{i});")
        lines.append(f'{{"{name}", [] {{\n' + "\n".join(body) + "\n}},")
    pathlib.Path(out).write_text("// Written by make_capi_calls.py.\n" + "\n".join(lines) + "\n")
    print(f"{len(lines)} calls, {len(LEFT_OUT)} left out")


main()
