"""Custom gradients in SavedModels: TensorFlow's functions take the gradients of all results of an IdentityN and give those of some of its inputs."""

from weft.proto import SavedConcreteFunction, op_def
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


def attach(library, concrete_functions, objects):
    """Custom gradients as TensorFlow saved them, as the engine finds them: a node names the function, and has what that uses besides as further inputs."""
    registered = {g.registered_op_type: g.gradient_func for g in library.registered_gradients}
    functions = {f.signature.name: f for f in library.function}
    for f in library.function:
        for node in f.node_def:
            if "_gradient_op_type" not in node.attr or "_gradient_layout" in node.attr:
                continue
            name = registered.get(node.attr["_gradient_op_type"].s.decode())
            if node.op != "IdentityN" or name not in functions or name not in concrete_functions:
                continue
            proto, types = concrete_functions[name], node.attr["T"].list.type
            uses = [_value_in(f, n, concrete_functions, objects) for n in proto.bound_inputs]
            if None in uses:
                continue  # LookupError, if somebody asks for it
            own = len(types)
            targets = [i for i, item in enumerate(structured.decode(proto.output_signature)) if item is not None]
            given = list(node.input)
            node.ClearField("input")
            node.input.extend([*given[:own], *uses, *given[own:]])
            types.extend([a.type for a in functions[name].signature.input_arg[own:]])
            node.attr["_gradient_op_type"].s = name.encode()
            node.attr["_gradient_layout"].list.i.extend([own, own, *targets])


def _value_in(f, number, concrete_functions, objects):
    """What a function has for an object of the model, as an input of its nodes; None where it has nothing."""
    captured = objects[number].captured_tensor if objects[number].WhichOneof("kind") == "captured_tensor" else None
    if captured is not None:
        return _reference(f, captured.name) if captured.concrete_function == f.signature.name else None
    if f.signature.name not in concrete_functions:
        return None
    bound = list(concrete_functions[f.signature.name].bound_inputs)
    if number not in bound:
        return None
    return f.signature.input_arg[len(f.signature.input_arg) - len(bound) + bound.index(number)].name


def _reference(f, tensor):
    """A tensor of the graph that became the function, by its name there."""
    name, _, index = tensor.rpartition(":")
    if any(a.name == name for a in f.signature.input_arg):
        return name
    node = next((n for n in f.node_def if n.name == name), None)
    if node is None or not index.isdigit():
        return None
    at = int(index)
    for out in op_def(node.op).output_arg:
        count = (
            node.attr[out.number_attr].i
            if out.number_attr
            else len(node.attr[out.type_list_attr].list.type) if out.type_list_attr else 1
        )
        if at < count:
            return f"{name}:{out.name}:{at}"
        at -= count
    return None


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
            if layout[1] != len(types):
                continue  # it uses values of the forward function, which TensorFlow's loader would have to be told of
            _export_one(library, concrete_functions, functions[own], layout, types)


def _export_one(library, concrete_functions, function, layout, types):
    from weft.framework.dtypes import as_dtype
    from weft.framework.type_spec import TensorSpec

    results_count, targets = layout[0], layout[2:]
    made = library.function.add()
    made.signature.name, made.signature.is_stateful = (
        function.signature.name + "_of_results",
        function.signature.is_stateful,
    )
    for i, dtype in enumerate(types):
        made.signature.input_arg.add(name=f"result_grads_{i}", type=dtype)
        made.arg_attr[i].attr["_user_specified_name"].s = f"result_grads_{i}".encode()
    results = _call(
        made, "call", function, [f"result_grads_{i}" for i in range(results_count)], types[:results_count]
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
