"""tf.compat.v1.Session: runs graphs of version 1."""

import collections.abc
import contextlib
import threading

import numpy as np

from weft import _weft
from weft._src.framework import errors, nest
from weft._src.compat.session_handles import TensorHandle
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import Graph, Operation, get_default_graph
from weft._src.framework.tensor import EagerTensor, Tensor

_local = threading.local()
_DEAD_HANDLES = 10


def _stack():
    if not hasattr(_local, "sessions"):
        _local.sessions = []
    return _local.sessions


def get_default_session():
    """The session of the innermost block, or None."""
    stack = _stack()
    return stack[-1] if stack else None


def default_session(session, what):
    """For Tensor.eval and Operation.run."""
    session = session or get_default_session()
    if session is None:
        if what == "eval":
            raise ValueError(
                "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with sess.as_default()` or pass an explicit session to "
                "`eval(session=sess)`"
            )
        raise ValueError(
            "Cannot execute operation using `run()`: No default session is registered. Use `with sess.as_default():` or pass an explicit session to "
            "`run(session=sess)`"
        )
    return session


class _Fetches:
    """A structure of fetches: what to ask of the engine, and how to build the results."""

    def __init__(self, session, fetches):
        self.session, self.graph = session, session.graph
        self.tensors, self.targets = [], []
        self._indices = {}
        self.build = self._plan(fetches)

    def _plan(self, fetch):
        """A function from the list of values to the result of this part."""
        if fetch is None:
            raise TypeError('Argument `fetch` = None has invalid type "NoneType". Cannot be None')
        if isinstance(fetch, (list, tuple)):
            parts = [self._plan(f) for f in fetch]
            if hasattr(fetch, "_fields"):
                return lambda values: type(fetch)(*[p(values) for p in parts])
            return lambda values: (
                type(fetch)([p(values) for p in parts]) if type(fetch) in (list, tuple) else [p(values) for p in parts]
            )
        if isinstance(fetch, collections.abc.Mapping):
            parts = {k: self._plan(f) for k, f in fetch.items()}
            return lambda values: type(fetch)((k, p(values)) for k, p in parts.items())
        if isinstance(fetch, CompositeTensor):
            return self._plan_composite(fetch)
        return self._plan_leaf(fetch)

    def _plan_composite(self, fetch):
        from weft._src.compat.v1 import values as kinds

        parts, make = kinds.fetched(fetch)
        plans = [self._plan_leaf(p) if p is not None else (lambda values: None) for p in parts]
        return lambda values: make(*[p(values) for p in plans])

    def _plan_leaf(self, fetch):
        try:
            element = self.graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as e:
            raise TypeError(
                f'Argument `fetch` = {fetch} has invalid type "{type(fetch).__name__}" must be a string or Tensor. ({e!s})'
            ) from None
        except ValueError as e:
            raise ValueError(f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({e!s})") from None
        except KeyError as e:
            raise ValueError(f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({e!s})") from None
        if isinstance(element, Operation):
            self.targets.append(element._id)
            return lambda values: None
        if element.op.type in ("GetSessionHandle", "GetSessionHandleV2"):
            get, dtype = self._value_of(element), element.op.inputs[0].dtype
            return lambda values: TensorHandle(get(values), dtype, self.session)
        return self._value_of(element)

    def _value_of(self, element):
        key = (element.op._id, element.value_index)
        index = self._indices.get(key)
        if index is None:
            index = self._indices[key] = len(self.tensors)
            self.tensors.append(element)
        return lambda values: values[index]


def _engine_feeds(feeds):
    """For a handle the engine takes the tensor that the session keeps."""
    return [(t, v._resource() if isinstance(v, TensorHandle) else v) for t, v in feeds]


def _value(tensor):
    """A result as numpy has it: a scalar for no dimensions."""
    if isinstance(tensor, TensorHandle):
        return tensor.eval()
    if tensor.dtype.name == "resource":
        return tensor
    if tensor.dtype.name == "variant":
        raise _failed(errors.InternalError, "Tensorflow type 21 not convertible to numpy dtype.")
    return tensor.numpy()


def _failed(kind, message, node_def=None, op=None, notes=None):
    error = kind(node_def, op, f"Graph execution error:\n\n{message}")
    error._notes = {**(notes or {}), "explained": ""}
    return error


def _reads(tensor, names):
    """Whether one of these tensors is needed for it."""
    todo, seen = [tensor], set()
    while todo:
        t = todo.pop()
        if t.name in names:
            return True
        if t.op.name in seen:
            continue
        seen.add(t.op.name)
        todo += list(t.op.inputs)
        for c in t.op.control_inputs:
            if c.name not in seen:
                seen.add(c.name)
                todo += list(c.inputs)
    return False


class _MasterCallable:
    """A step that the session's master looked up once."""

    def __init__(self, session, options):
        self._session, self._feeds, self._handle = session, list(options.feed), None
        session._start_iterators()
        try:
            self._native = session._session()
            self._handle = self._native.make_callable(options.SerializeToString())
        except errors.OpError as e:
            raise _failed(type(e), e.message, e.node_def, e.op, e._notes) from None

    def __call__(self, *values, run_metadata=None):
        if len(values) != len(self._feeds):
            raise _failed(
                errors.InvalidArgumentError, f"Expected {len(self._feeds)} feed tensors, but got {len(values)}"
            )
        fed = [self._session._feed(k, v, compare=False)[1] for k, v in zip(self._feeds, values)]
        try:
            results, metadata = self._native.run_callable(self._handle, fed)
        except errors.OpError as e:
            raise _failed(type(e), e.message, e.node_def, e.op, e._notes) from None
        if run_metadata is not None:
            run_metadata.ParseFromString(metadata)
        return [_value(r) for r in results]

    def __del__(self):
        if self._handle is not None and not self._session._closed:
            try:
                self._native.release_callable(self._handle)
            except Exception:  # the master, or the session, is gone
                pass


class BaseSession:
    """What both kinds of sessions do."""

    def __init__(self, target="", graph=None, config=None):
        if graph is None:
            graph = get_default_graph()
        elif not isinstance(graph, Graph):
            raise TypeError(f'Argument `graph` must be a tf.Graph, but got "{type(graph).__name__}"')
        self._target = target.decode() if isinstance(target, bytes) else target or ""
        from weft._src.proto import ConfigProto

        if config is not None and not isinstance(config, ConfigProto):
            raise TypeError(f'Argument `config` must be a tf.ConfigProto, but got "{type(config).__name__}"')
        self._graph, self._config, self._closed, self._native = graph, config, False, None
        self._partial = {}  # handle -> [native run, feeds and fetches that are left], None when it is over
        self._dead_handles = []
        self._started = 0  # how many of the graph's iterators that start by themselves did

    @property
    def graph(self):
        return self._graph

    @property
    def graph_def(self):
        return self._graph.as_graph_def()

    @property
    def sess_str(self):
        return self._target.encode()

    def _session(self, may_be_empty=False):
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self._native is None:
            if self._graph.version == 0 and not self._target and not may_be_empty:
                raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
            config, options = self._config, {"target": self._target} if self._target else {}
            if config is not None:
                if config.gpu_options.per_process_gpu_memory_fraction:
                    _weft.set_gpu_memory_fraction(config.gpu_options.per_process_gpu_memory_fraction)
                options.update(
                    cpu_devices=max(config.device_count["CPU"] if "CPU" in config.device_count else 1, 1),
                    threads=config.intra_op_parallelism_threads,
                    inter_threads=max(config.inter_op_parallelism_threads, 0),
                    config=config.SerializeToString(),
                    soft_placement=True,
                    log_device_placement=config.log_device_placement,
                )
            self._native = _weft.NativeSession(self._graph, **options)
        return self._native

    def _register_dead_handle(self, handle):
        """Nobody holds the handle any more. The tensors of some go together."""
        if self._native is None:
            return
        self._dead_handles.append(handle)
        if len(self._dead_handles) == _DEAD_HANDLES:
            dead, self._dead_handles = self._dead_handles, []
            for name in dead:
                self._native.delete_tensor(name)

    def list_devices(self):
        from weft._src.compat.v1.values import DeviceAttributes

        return [
            DeviceAttributes(name, kind, memory) for name, kind, memory in self._session(may_be_empty=True).devices()
        ]

    def close(self):
        self._closed = True
        if self._native is not None:
            self._native.close()
            self._native = None

    # ---- runs

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """The values of the fetches, in their structure, with the feeds in the place of tensors."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if not self._graph._native.num_nodes():
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        plan = _Fetches(self, fetches)
        feeds = self._feeds(feed_dict)
        if not plan.tensors and not plan.targets:
            return plan.build([])
        return plan.build(self._run(feeds, plan, options, run_metadata))

    def _start_iterators(self):
        """Iterators without an initializer of their own begin with the session."""
        ops = self._graph.get_collection("_weft_one_shot_iterators")
        while self._started < len(ops):
            self._started += 1
            self._session().run([], [], [ops[self._started - 1]._id])

    def _run(self, feeds, plan, options=None, run_metadata=None):
        self._start_iterators()
        graphs = options is not None and options.output_partition_graphs
        traced = (
            run_metadata is not None and options is not None and (options.trace_level > 0 or graphs or self._target)
        )
        extra = {"traced": True} if traced else {}
        if (self._target or graphs) and options is not None:
            extra["options"] = options.SerializeToString()
        timeout = (options.timeout_in_ms if options is not None else 0) or (
            self._config.operation_timeout_in_ms if self._config is not None else 0
        )
        if timeout > 0:
            extra["timeout_ms"] = timeout
        fed = {(t.op._id, t.value_index): v for t, v in feeds}
        wanted = [t for t in plan.tensors if (t.op._id, t.value_index) not in fed]
        try:
            session = self._session()
            only_fed = plan.tensors and not wanted and not plan.targets
            results = [] if only_fed else session.run(_engine_feeds(feeds), wanted, plan.targets, **extra)
        except errors.OpError as e:
            raise _failed(type(e), e.message, e.node_def, e.op, e._notes) from None
        if run_metadata is not None:
            run_metadata.ParseFromString(results.pop() if traced and not only_fed else b"")
            if graphs and options.trace_level == 0:
                run_metadata.ClearField("step_stats")  # the engine traces whenever it is asked for metadata
        got = iter(results)
        return [
            _value(fed[key]) if (key := (t.op._id, t.value_index)) in fed else _value(next(got)) for t in plan.tensors
        ]

    def _feeds(self, feed_dict):
        out = []
        for key, value in (feed_dict or {}).items():
            if isinstance(key, CompositeTensor):
                from weft._src.compat.v1 import values as kinds

                out += [self._feed(t, v) for t, v in kinds.fed(key, value)]
            elif isinstance(key, tuple):
                out += [self._feed(t, v) for t, v in zip(key, value)]
            else:
                out.append(self._feed(key, value))
        return out

    def _feed(self, key, value, compare=True):
        key = getattr(key, "_ref_target", key)
        try:
            tensor = self._graph.as_graph_element(key.deref() if hasattr(key, "deref") else key, allow_operation=False)
        except Exception as e:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {e.args[0]}") from None
        if isinstance(value, Tensor) and not isinstance(value, EagerTensor):
            raise TypeError(
                "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, lists, numpy ndarrays, or "
                f"TensorHandles. For reference, the tensor object was {value!s} which was passed to the argument `feed_dict` with key {key!s}."
            )
        if not self._graph.is_feedable(tensor):
            raise ValueError(f"Tensor {tensor.name} may not be fed.")
        if isinstance(value, TensorHandle):
            return tensor, value
        if isinstance(value, EagerTensor) and value.dtype == tensor.dtype:
            made = value
        else:
            array = np.asarray(value, dtype=tensor.dtype.as_numpy_dtype)
            if compare and not tensor.shape.is_compatible_with(array.shape):
                raise ValueError(
                    f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, which has shape {tensor.shape}"
                )
            _weft.enter_eager()
            try:
                made = convert_to_tensor(array, dtype=tensor.dtype)
            finally:
                _weft.exit_graph()
        if compare and not tensor.shape.is_compatible_with(made.shape):
            raise ValueError(
                f"Cannot feed value of shape {tuple(made.shape)} for Tensor {tensor.name}, which has shape {tensor.shape}"
            )
        return tensor, made

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function of the values of feed_list that runs these fetches."""
        return self._callable(fetches, feed_list)

    def _callable(self, fetches, feed_list, compare=True):
        """With `compare`, shapes of values must fit those of the tensors that they are fed to."""
        plan = _Fetches(self, fetches)
        keys = list(feed_list or [])

        def call(*values, options=None, run_metadata=None):
            if len(values) != len(keys):
                raise TypeError(f"Expected {len(keys)} feed values, but got {len(values)}")
            feeds = [self._feed(k, v, compare) for k, v in zip(keys, values)]
            return plan.build(self._run(feeds, plan, options, run_metadata))

        return call

    def _make_callable_from_options(self, callable_options):
        """make_callable of a CallableOptions message: the values of `fetch`, after what `target` names has run. A connection feeds a tensor with another one's value."""
        if self._target:
            return _MasterCallable(self, callable_options)
        fetches, feeds = list(callable_options.fetch), list(callable_options.feed)
        nodes = [self._graph.as_graph_element(name.partition(":")[0]) for name in callable_options.target]
        pairs = self._connections(callable_options.tensor_connection, fetches, feeds)
        if pairs:
            fetches, feeds = ([self._tensor(name).name for name in names] for names in (fetches, feeds))
        call = None if pairs else self._callable([*fetches, *nodes], feeds, compare=False)

        def connected(*values, run_metadata=None):
            # One step in parts, so that what several of them need runs once: each fetches what the next one is fed with.
            ends = [op.outputs[0].name if op.outputs else op for op in nodes]  # masters take no targets in a part
            once = list(
                dict.fromkeys([source for source, _ in pairs] + fetches + [e for e in ends if isinstance(e, str)])
            )
            bare = [e for e in ends if not isinstance(e, str)]
            handle = self.partial_run_setup([*once, *bare], [*feeds, *(to for _, to in pairs)])
            fed, found = dict(zip(feeds, values)), {}
            for source, to in pairs:
                if source not in found:
                    found[source] = self._part(handle, source, fed, False)
                    fed = {}
                fed[to] = found[source]
            rest = [name for name in once if name not in found]
            if rest or bare:
                found.update(zip(rest, self._part(handle, [*rest, *bare], fed, True)))
            return [found[name] for name in fetches]

        if pairs:
            return connected

        def run(*values, run_metadata=None):
            return call(*values, options=callable_options.run_options, run_metadata=run_metadata)[: len(fetches)]

        return run

    def _tensor(self, name):
        node, _, index = name.partition(":")
        return self._graph.get_tensor_by_name(f"{node}:{index or 0}")

    def _connections(self, connections, fetches, feeds):
        """(from, to) in an order in which each can be computed from those before; in TensorFlow's words what cannot be."""
        if not connections:
            return []
        pairs, targets = [], {self._tensor(f).name for f in feeds}
        wanted = {self._tensor(f).name for f in fetches}
        for c in connections:
            try:
                to = self._tensor(c.to_tensor)
            except (KeyError, ValueError):
                raise _failed(errors.NotFoundError, f"FeedInputs: unable to find feed output {c.to_tensor}") from None
            try:
                source = self._tensor(c.from_tensor)
            except (KeyError, ValueError):
                raise _failed(
                    errors.InvalidArgumentError, f'Requested tensor connection from unknown node or edge: "{to.name}".'
                ) from None
            if to.name in targets:
                raise _failed(errors.InvalidArgumentError, f'Endpoint "{to.name}" fed more than once.')
            if to.name in wanted:
                raise _failed(errors.InvalidArgumentError, f"{to.name} is both fed and fetched.")
            if source.dtype != to.dtype:
                raise _failed(
                    errors.InvalidArgumentError,
                    f"Tensor {to.name} of type {to.dtype.name} cannot be connected with one of type {source.dtype.name}",
                )
            targets.add(to.name)
            pairs.append((source, to))
        ordered, open_ = [], {to.name for _, to in pairs}
        while pairs:
            ready = [p for p in pairs if not _reads(p[0], open_)]
            if not ready:
                source, to = pairs[0]
                raise _failed(
                    errors.InvalidArgumentError,
                    f'Requested Tensor connection between nodes "{to.op.name}" and "{source.op.name}" would create a cycle.',
                )
            ordered += [(source.name, to.name) for source, to in ready]
            open_ -= {to.name for _, to in ready}
            pairs = [p for p in pairs if p not in ready]
        return ordered

    def partial_run_setup(self, fetches, feeds=None):
        """A handle for a step in several calls of partial_run, which feed and fetch what is named here."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        plan = _Fetches(self, fetches)
        tensors = [
            t
            for key in feeds or []
            for t in ([key] if not isinstance(key, CompositeTensor) else nest.flatten(key, expand_composites=True))
        ]
        tensors = [self._graph.as_graph_element(t, allow_operation=False) for t in tensors]
        if not plan.tensors and not plan.targets:
            raise _failed(errors.InvalidArgumentError, "Must specify at least one target to fetch or execute.")
        self._start_iterators()
        run = self._session().partial_run(tensors, plan.tensors, plan.targets)
        names = [",".join(t.name for t in group) for group in (tensors, plan.tensors)]
        handle = f"{names[0]}->{names[1]}//{len(plan.targets)}/;{len(self._partial)}"
        self._partial[handle] = [run, len(tensors), len(plan.tensors)]
        return handle

    def partial_run(self, handle, fetches, feed_dict=None):
        """A part of the step: what can be computed of what was fed so far."""
        if handle is None:
            return self.run(fetches, feed_dict)
        return self._part(handle, fetches, feed_dict, False)

    def _part(self, handle, fetches, feed_dict, targets):
        """The same; `targets`: ops may be among the fetches."""
        state = self._partial.get(handle)
        if state is None:
            raise _failed(errors.InvalidArgumentError, "Must run 'setup' before performing partial runs!")
        plan = _Fetches(self, fetches)
        if plan.targets and not targets:
            ops = [self._graph._operation(i) for i in plan.targets]
            raise RuntimeError(f"partial_run() requires empty `target_list`. Received: target_list={ops} (non-empty)")
        feeds = self._feeds(feed_dict)
        try:
            got = state[0].run(_engine_feeds(feeds), plan.tensors, plan.targets)
        except errors.OpError as e:
            raise _failed(type(e), e.message, notes=e._notes) from None
        state[1] -= len(feeds)
        state[2] -= len(plan.tensors)
        if state[1] <= 0 and state[2] <= 0:  # all that was announced
            self._partial[handle] = None
        return plan.build([_value(t) for t in got])

    @contextlib.contextmanager
    def as_default(self):
        """The session that Tensor.eval uses in the block."""
        _stack().append(self)
        try:
            yield self
        finally:
            _stack().remove(self)


class Session(BaseSession):
    """Runs a graph; also as a context, in which it and its graph are the defaults."""

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._contexts = []

    def __enter__(self):
        for context in (self.graph.as_default(), self.as_default()):
            context.__enter__()
            self._contexts.append(context)
        return self

    def __exit__(self, kind, error, trace):
        while self._contexts:
            self._contexts.pop().__exit__(kind, error, trace)
        self.close()

    @staticmethod
    def reset(target, containers=None, config=None):
        """The master at the target forgets its sessions and clears these containers of its cluster. Sessions of this process keep no state outside themselves."""
        if not target:
            return
        _weft.reset_sessions(
            target.decode() if isinstance(target, bytes) else target,
            list(containers or []),
            config.SerializeToString() if config is not None else b"",
        )


class InteractiveSession(BaseSession):
    """A session that is the default from the start."""

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._explicit = graph.as_default() if graph is not None else None
        if self._explicit is not None:
            self._explicit.__enter__()
        self._default = self.as_default()
        self._default.__enter__()

    def close(self):
        super().close()
        if self._default is not None:
            self._default.__exit__(None, None, None)
            self._default = None
        if self._explicit is not None:
            self._explicit.__exit__(None, None, None)
            self._explicit = None
