"""Custom gradients in SavedModels: TensorFlow's functions take the gradients of all results of an IdentityN and give those of some of its inputs."""

from weft import _weft
from weft.proto import FunctionDef, SavedConcreteFunction
from weft.saved_model import structured


def _call(made, name, function, inputs, types):
    """A node that calls a function; where its results are."""
    node = made.node_def.add(
        name=name, op="StatefulPartitionedCall" if function.signature.is_stateful else "PartitionedCall", input=inputs
    )
    node.attr["f"].func.name = function.signature.name
    node.attr["Tin"].list.type.extend(types)
    node.attr["Tout"].list.type.extend([o.type for o in function.signature.output_arg])
    return [f"{name}:output:{i}" for i in range(len(function.signature.output_arg))]


def adapted(function, proto, name):
    """A FunctionDef that gives a gradient for every input, zeros where TensorFlow's function has None: the form that the engine calls."""
    made = FunctionDef()
    made.signature.name, made.signature.is_stateful = name, function.signature.is_stateful
    types = [a.type for a in function.signature.input_arg]
    for i, dtype in enumerate(types):
        made.signature.input_arg.add(name=f"dy_{i}", type=dtype)
    results = iter(_call(made, "call", function, [f"dy_{i}" for i in range(len(types))], types))
    for i, item in enumerate(structured.decode(proto.output_signature)):
        made.signature.output_arg.add(name=f"dx_{i}", type=types[i])
        if item is None:
            made.node_def.add(name=f"none_{i}", op="ZerosLike", input=[f"dy_{i}"]).attr["T"].type = types[i]
            made.ret[f"dx_{i}"] = f"none_{i}:y:0"
        else:
            made.ret[f"dx_{i}"] = next(results)
    return made


def export(library, concrete_functions):
    """Adds TensorFlow's form of the engine's custom gradients to a library and to the list of functions."""
    functions = {f.signature.name: f for f in library.function}
    done = set()
    for f in list(library.function):
        for node in f.node_def:
            own = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else None
            if own is None or own in done or own not in functions or "_gradient_layout" not in node.attr:
                continue
            done.add(own)
            layout, types = list(node.attr["_gradient_layout"].list.i), list(node.attr["T"].list.type)
            if layout[0] + layout[1] != len(types):
                continue  # it uses values of the forward function, which TensorFlow's loader would have to be told of
            _export_one(library, concrete_functions, functions[own], layout, types)


def _export_one(library, concrete_functions, function, layout, types):
    from weft.framework.dtypes import as_dtype
    from weft.framework.type_spec import TensorSpec

    first, count, targets = layout[0], layout[1], layout[2:]
    made = library.function.add()
    made.signature.name, made.signature.is_stateful = (
        function.signature.name + "_of_results",
        function.signature.is_stateful,
    )
    for i, dtype in enumerate(types):
        made.signature.input_arg.add(name=f"result_grads_{i}", type=dtype)
        made.arg_attr[i].attr["_user_specified_name"].s = f"result_grads_{i}".encode()
    results = _call(
        made, "call", function, [f"result_grads_{i}" for i in range(first, first + count)], types[first : first + count]
    )
    outputs = []
    for i in range(len(types)):
        if i not in targets:
            outputs.append(None)
            continue
        made.signature.output_arg.add(name=f"dx_{i}", type=types[i])
        made.ret[f"dx_{i}"] = results[targets.index(i)]
        outputs.append(TensorSpec(None, as_dtype(types[i]), f"tensor_{i}"))
    library.registered_gradients.add(gradient_func=made.signature.name, registered_op_type=function.signature.name)
    described = SavedConcreteFunction()
    given = (None, *[TensorSpec(None, as_dtype(t), f"result_grads_{i}") for i, t in enumerate(types)])
    described.canonicalized_input_signature.CopyFrom(structured.encode((given, {})))
    described.output_signature.CopyFrom(structured.encode(outputs))
    concrete_functions[made.signature.name].CopyFrom(described)


def unused_name(base):
    number = 0
    while _weft.has_function(f"{base}_{number}"):
        number += 1
    return f"{base}_{number}"
