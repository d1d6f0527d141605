"""What the programs calls_*.py print with: the value of a call, or its error."""

import contextlib
import re


def without_addresses(text):
    return re.sub(r" at 0x\w+", "", text)


@contextlib.contextmanager
def shown():
    """Prints the kind and the text of an error."""
    try:
        yield
    except Exception as e:
        print(type(e).__name__ + ":", without_addresses(str(e)))


def show(call):
    with shown():
        value = call()
        if value is not None:
            print(without_addresses(repr(value)))


def tell(lines, names):
    """Prints each line of a text, and below it its value or its error; a statement's line gives nothing but an error."""
    for line in filter(None, map(str.strip, lines.splitlines())):
        print(">>>", line)
        try:
            code = compile(line, "line", "eval")
        except SyntaxError:
            with shown():
                exec(line, names)
        else:
            show(lambda: eval(code, names))
