"""Misuse of the C API: nodes, handles and functions of other owners, objects that are freed twice, wrong indices, counts, types and nulls.

The first attempt plays the cases of capi_misuse_*.c, each in a process of its own, and compares each answer with TensorFlow's (capi_misuse_tensorflow.txt).
Where TensorFlow dies, weft must refuse; where TensorFlow takes a node of another graph for one of the same name, weft refuses with InvalidArgument.
Every further attempt makes random calls of all functions with objects of mixed owners (capi_random.cc).

To record again, link capi_misuse*.c with TensorFlow's libraries and run it: TF_CPP_MIN_LOG_LEVEL=3 ./capi_misuse > capi_misuse_tensorflow.txt
"""

import os
import tempfile

import support

HERE = os.path.dirname(os.path.abspath(__file__))
INVALID = "3"

# TensorFlow takes these for its own; weft refuses them with InvalidArgument.
OTHER_OWNER = {
    "graph_input_of_other_graph",
    "graph_input_list_of_other_graph",
    "graph_control_of_other_graph",
    "graph_evaluate_of_other_graph",
    "graph_function_body_of_other_graph",
    "graph_function_control_of_other_graph",
    "graph_gradient_dx_of_other_graph",
    "graph_gradient_x_index",
    "graph_import_mapped_to_other_graph",
    "graph_import_control_of_other_graph",
    "graph_import_remapped_control_of_other_graph",
    "graph_while_of_other_graph",
    "session_fetch_of_other_graph",
    "session_fetch_of_other_graph_with_same_id",
    "session_feed_of_other_graph",
    "session_feed_of_other_graph_beside_own",
    "session_target_of_other_graph",
    "session_partial_of_other_graph",
    "session_partial_fetch_of_other_graph",
    "session_partial_target_of_other_graph",
    "session_partial_nodes_of_other_graph",
    "session_partial_handle_null",
    "session_new_session_null",
    "eager_flat_input_index",
}
# The same code, another text: TensorFlow's refers to ids, to its kernels or to its messages.
OTHER_TEXT = {
    "graph_function_input_of_other_graph",
    "graph_function_output_of_other_graph",
    "graph_gradient_y_of_other_graph",
    "graph_gradient_x_of_other_graph",
    "graph_while_index",
    "graph_while_counts_changed",
    "session_output_index_negative",
    "session_new_session_target",
    "eager_function_removed_under_op",
    "eager_no_inputs",
    "eager_device_malformed",
    "eager_attr_of_other_kind",
    "graph_unknown_op",
    "eager_unknown_op",
    "eager_function_of_other_context",
    "eager_function_removed_then_reset",
    "eager_attr_query",
}
# What weft does here on purpose; only a death counts.
OTHER_ANSWER = {
    "graph_next_operation": "TensorFlow's position overflows and begins again",
    "graph_while_finished_twice": "TensorFlow dies although the first call is right",
    "session_fetch_of_other_graph_after_own": "the first of its two questions is a right call; the second is checked below",
    "eager_variable_of_other_context": "a handle keeps its variable alive and finds it from everywhere",
    "eager_variable_of_deleted_context": "as above",
    "eager_iterator_of_other_context": "as above",
    "eager_iterator_of_deleted_context": "as above",
    "eager_handle_after_its_context": "a handle outlives its context",
}


def read(text):
    """Case -> [(question, answer)]; the answer of a question that ended the process is None."""
    cases, current = {}, None
    for line in text.splitlines():
        if line in ("DIED", "HUNG") or line.startswith("EXIT "):
            current.append((line, None))
        elif line.startswith("  "):
            question, _, answer = line[2:].partition(" -> ")
            if answer in ("DIED", "HUNG"):
                answer = None
            current.append((question, answer))
        elif line:
            current = cases.setdefault(line, [])
    return cases


def compare(name, wanted, got):
    """What is wrong with the answers to one case, or None."""
    for i, (question, answer) in enumerate(got):
        if answer is None:
            return f"{name}: {question}: the process ended"
        code = answer.split(" ")[0]
        theirs = wanted[i][1] if i < len(wanted) else None
        is_status = "s)" in question or question.startswith(("run(", "to_function("))
        if name in OTHER_ANSWER:
            continue
        if name in OTHER_OWNER:
            if is_status and code != INVALID:
                return f"{name}: {question}: {answer!r} is not an InvalidArgument"
        elif theirs is None:
            if is_status and code == "0":
                return f"{name}: {question}: OK where TensorFlow dies"
        elif name in OTHER_TEXT:
            if code != theirs.split(" ")[0]:
                return f"{name}: {question}: {answer!r}, TensorFlow {theirs!r}"
        elif answer != theirs:
            return f"{name}: {question}: {answer!r}, TensorFlow {theirs!r}"
    if name == "session_fetch_of_other_graph_after_own" and [a.split(" ")[0] for _, a in got] != ["0", INVALID]:
        return f"{name}: {got}"
    return None if got or not wanted else f"{name}: no answer"


def cases(build):
    with open(os.path.join(HERE, "capi_misuse_tensorflow.txt"), errors="replace") as f:
        wanted = read(f.read())
    outcome = support.child([build.program("capi_misuse")], seconds=300)
    if outcome.problem():
        return outcome.problem()
    got = read(outcome.out)
    problems = [f"{name} has no recording" for name in got if name not in wanted] + [
        f"{name} did not run" for name in wanted if name not in got
    ]
    problems += filter(None, (compare(name, wanted[name], got[name]) for name in wanted if name in got))
    return "\n  ".join(problems) or None


def attack(random, build):
    if not attack.played:
        attack.played = True
        if problem := cases(build):
            return problem
    seed = random.randrange(1 << 31)
    with tempfile.TemporaryDirectory() as folder:
        command = [build.program("capi_random"), str(seed), "3000"]
        outcome = support.child(command, seconds=60, cwd=folder)
        problem = outcome.problem() or (outcome.code != 0 and f"exit {outcome.code}")
        if not problem:
            return None
        trace = support.child([*command, "--trace"], seconds=60, cwd=folder)
        last = [line for line in trace.err.splitlines() if not line.startswith("  ")][-3:]
        return f"{problem}\n  {' '.join(command)}\n  last calls: {', '.join(last)}"


attack.played = False

if __name__ == "__main__":
    support.main(__doc__, attack)
