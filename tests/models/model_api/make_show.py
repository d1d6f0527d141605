"""Writes show.json: what TensorFlow's saved_model_cli tells of SavedModels, for tests/cli.

    python make_show.py SAVED_MODEL_CLI NAME=DIR ...      (prints JSON)
"""
import json
import re
import subprocess
import sys


def facts(text):
    """The text of `show --all` as data."""
    out = {"signatures": {}, "ops": [], "functions": {}}
    signature = port = function = option = None
    for line in text.splitlines():
        if m := re.match(r"signature_def\['(.*)'\]:", line):
            signature = out["signatures"][m[1]] = {"inputs": {}, "outputs": {}, "method": ""}
        elif m := re.match(r"\s+(inputs|outputs)\['(.*)'\] tensor_info:", line):
            port = signature[m[1]][m[2]] = {}
        elif m := re.match(r"\s+(dtype|shape|name): (.*)", line):
            port[m[1]] = m[2]
        elif m := re.match(r"\s+Method name is: (.*)", line):
            signature["method"] = m[1]
        elif m := re.match(r"The MetaGraph .* contains the following ops: \{(.*)\}", line):
            out["ops"] = sorted(re.findall(r"'([^']*)'", m[1]))
        elif m := re.match(r"\s+Function Name: '(.*)'", line):
            function = out["functions"][m[1]] = []
        elif re.match(r"\s+Option #\d+", line):
            option = []
            function.append(option)
        elif "TensorSpec(" in line and option is not None:
            option += [list(t) for t in re.findall(r"TensorSpec\(shape=(.*?), dtype=tf\.(\w+), name='(.*?)'\)", line)]
    return out


def main():
    result = {}
    for pair in sys.argv[2:]:
        name, _, path = pair.partition("=")
        result[name] = facts(subprocess.run([sys.argv[1], "show", "--all", "--dir", path], capture_output=True, text=True, check=True).stdout)
    json.dump(result, sys.stdout, indent=1, sort_keys=True)


main()
