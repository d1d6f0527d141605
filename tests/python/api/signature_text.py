"""How the recorder and the tests write parameters."""

import inspect
import re


def text(function):
    """Parameters with "*" before those that are keywords only; "?" where Python knows none."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "?"
    out, star = [], False
    for p in signature.parameters.values():
        if p.kind == p.KEYWORD_ONLY and not star:
            out.append("*")
        star = star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else "=" + re.sub(r" at 0x[0-9a-f]+", "", repr(p.default))
        out.append(prefix + p.name + re.sub(r"<(\w+\.)+(\w+) object>", r"<\2 object>", default))
    return ", ".join(out)
