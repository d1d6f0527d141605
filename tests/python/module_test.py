"""tf.Module and the tracking of attributes. What is expected was read off TensorFlow 2.21."""

import collections
import copy
import pickle

import pytest

import weft as tf

Pair = collections.namedtuple("Pair", "a b")


class Holder(tf.Module):
    def __init__(self, **attributes):
        super().__init__()
        for name, value in attributes.items():
            setattr(self, name, value)


def var(name="v"):
    return tf.Variable(1.0, name=name)


def children(x):
    return sorted(x._trackable_children())


class Net(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.w = var("w")
        self.sub = [Holder(q=var("q")), {"z": Holder(y=var("y"))}]
        self.frozen = tf.Variable(1.0, trainable=False, name="f")
        with self.name_scope:
            self.s = var("s")

    @tf.Module.with_name_scope
    def __call__(self):
        if not hasattr(self, "c"):
            self.c = var("c")
        return self.c.name


def test_variables_of_a_module():
    net = Net()
    assert [v.name for v in net.variables] == ["f:0", "net/s:0", "w:0", "q:0", "y:0"]
    assert [v.name for v in net.trainable_variables] == ["net/s:0", "w:0", "q:0", "y:0"]
    assert [v.name for v in net.non_trainable_variables] == ["f:0"]
    assert [type(m).__name__ for m in net.submodules] == ["Holder", "Holder"]
    assert net() == "net/c:0" and net.name == "net" and net.name_scope.name == "net/"
    assert [p for p, _ in net._flatten(with_path=True, predicate=lambda x: isinstance(x, tf.Variable))] == [
        ("c",),
        ("frozen",),
        ("s",),
        ("w",),
        ("sub", 0, "q"),
        ("sub", 1, "z", "y"),
    ]
    with tf.name_scope("outer"):
        assert Net().s.name == "outer/net/s:0"
    assert copy.deepcopy(net).variables[0].name == "net/c:0"


def test_names():
    class HTTPServer2Layer(tf.Module):
        pass

    assert HTTPServer2Layer().name == "http_server2_layer"
    with pytest.raises(
        ValueError, match="'bad name' is not a valid module name. Module names must be valid Python identifiers"
    ):
        Net("bad name")

    class Forgot(tf.Module):
        def __init__(self):
            pass

    assert Forgot().variables == ()
    with pytest.raises(AttributeError, match="'Forgot' object has no attribute '_name_scope'"):
        Forgot().name_scope


def test_a_shared_variable_counts_once():
    v = var()
    m = Holder(a=v, b=[v], c=Holder(d=v))
    assert len(m.variables) == 1
    m.c.parent = m
    assert len(m.variables) == 1 and len(m.submodules) == 1


def test_lists():
    own = [var("l0")]
    m = Holder(l=own)
    assert type(m.l).__name__ == "ListWrapper" and isinstance(m.l, list) and children(m.l) == ["0"]
    m.l.append(3)
    m.l.append([var("n")])
    assert len(own) == 3 and children(m.l) == ["0", "2"] and type(own[2]).__name__ == "ListWrapper"
    m.l += [var("x")]
    assert children(m.l) == ["0", "2", "3"]
    assert type(m.l + [1]) is list and type([1] + m.l) is list and type(m.l[:1]) is list
    assert Holder(l=[1, 2]).l == [1, 2] and tf.constant(Holder(l=[1, 2]).l).numpy().tolist() == [1, 2]
    assert pickle.loads(pickle.dumps(Holder(l=[1, 2]).l)) == [1, 2]


def test_a_list_that_changes_outside():
    own = []
    m = Holder(l=own)
    own.append(var("a"))
    assert [v.name for v in m.variables] == ["a:0"] and len(m.l) == 1
    with pytest.raises(ValueError, match="The wrapped list was modified outside the wrapper"):
        m.l._trackable_children()


@pytest.mark.parametrize(
    "change",
    [
        lambda l: l.insert(0, var()),
        lambda l: l.pop(),
        lambda l: l.__setitem__(0, var()),
        lambda l: l.reverse(),
        lambda l: l.clear(),
    ],
)
def test_a_list_that_is_not_only_appended_to(change):
    m = Holder(l=[var("a")])
    change(m.l)
    with pytest.raises(ValueError, match="A list element was replaced .* deleted .* or moved"):
        m.l._trackable_children()


def test_plain_lists_may_change():
    m = Holder(l=[1, 2])
    m.l[0] = 5
    m.l.append(var())
    assert children(m.l) == ["2"] and m.l[0] == 5


def test_dicts():
    own = {"x": var("dx"), "y": [var("dy")]}
    m = Holder(d=own)
    assert isinstance(m.d, dict) and children(m.d) == ["x", "y"]
    m.d["z"] = var("dz")
    own["u"] = var("du")
    assert children(m.d) == ["u", "x", "y", "z"] and "z" in own and set(m.d) == {"x", "y", "z", "u"}
    m.d[3] = var()
    with pytest.raises(ValueError, match="The wrapped dictionary contains a non-string key"):
        m.d._trackable_children()
    assert repr(Holder(d={"a": [1]}).d) == "DictWrapper({'a': ListWrapper([1])})"
    assert repr(Holder(d=collections.OrderedDict(a=1)).d) == "DictWrapper(" + repr(collections.OrderedDict(a=1)) + ")"


def test_tuples():
    m = Holder(t=(var("t"), 2), n=Pair(var("n"), 3), plain=(1, 2), deep=([1], 2))
    assert type(m.t).__name__ == "_TupleWrapper" and children(m.t) == ["0"] and type(m.plain) is tuple
    assert children(m.n) == ["0", "a"] and m.n.a.name == "n:0" and isinstance(m.n, Pair)
    assert type(m.deep).__name__ == "_TupleWrapper" and type(m.deep[0]).__name__ == "ListWrapper"


def test_attributes():
    m = Holder(a=var("a"))
    m.a = var("b")
    assert m._trackable_children()["a"].name == "b:0"
    del m.a
    assert children(m) == []
    from weft._src.trackable.data_structures import NoDependency

    m.hidden = NoDependency([var("h")])
    assert type(m.hidden) is list and children(m) == []


def test_structures_keep_their_kind():
    m = Holder(q={"a": [1, 2, {"b": (1, 2)}]})
    assert tf.nest.flatten(m.q) == [1, 2, 1, 2]
    assert (
        repr(tf.nest.map_structure(lambda x: x + 1, m.q))
        == "DictWrapper({'a': ListWrapper([2, 3, DictWrapper({'b': (2, 3)})])})"
    )
