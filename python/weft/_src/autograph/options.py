"""What a conversion does: its optional features and how far it goes."""

import enum


class Feature(enum.Enum):
    """Optional parts of the conversion: tf.function(experimental_autograph_options=...) takes one or several."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls):
        """All of them, as a tuple."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude):
        """All but one or several, as a tuple."""
        excluded = {cls.ALL, *(exclude if isinstance(exclude, (list, tuple, set)) else (exclude,))}
        return tuple(f for f in cls if f not in excluded)


class ConversionOptions:
    """`recursive`: functions that are called are converted too. `user_requested`: the user asked for this very
    function. `internal_convert_user_code`: user functions are converted at all, not only calls of built-in ones
    rewritten."""

    __slots__ = ("recursive", "user_requested", "internal_convert_user_code", "optional_features", "_hash", "_callopts")

    def __init__(
        self, recursive=False, user_requested=False, internal_convert_user_code=True, optional_features=Feature.ALL
    ):
        self.recursive = recursive
        self.user_requested = user_requested
        self.internal_convert_user_code = internal_convert_user_code
        if isinstance(optional_features, enum.Enum):
            optional_features = (optional_features,)
        self.optional_features = frozenset(optional_features or ())
        self._hash = hash(self._key())
        self._callopts = None

    def _key(self):
        return self.recursive, self.user_requested, self.internal_convert_user_code, self.optional_features

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return self._key() == other._key()

    def uses(self, feature):
        """malt asks this with an enumeration of its own, of the same names."""
        return bool(self.optional_features) and any(f.name in ("ALL", feature.name) for f in self.optional_features)

    def call_options(self):
        """Those for the functions that the converted one calls."""
        if self._callopts is None:
            self._callopts = ConversionOptions(self.recursive, False, self.recursive, self.optional_features)
        return self._callopts

    def to_ast(self):
        """An expression that makes these options in generated code."""
        from malt.pyct import parser

        if self == STANDARD:
            return parser.parse_expression("ag__.STD")
        features = ", ".join(f"ag__.{f}" for f in self.optional_features)
        return parser.parse_expression(
            f"ag__.ConversionOptions(recursive={self.recursive}, user_requested={self.user_requested},"
            f" optional_features=({features}), internal_convert_user_code={self.internal_convert_user_code})"
        )


STANDARD = ConversionOptions(recursive=True, optional_features=None)
