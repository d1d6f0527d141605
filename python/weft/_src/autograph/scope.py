"""What surrounds the body of every converted function."""

from . import _tf
from .context import ControlStatusCtx, Status
from .options import Feature
from .variables import UndefinedReturnValue


class FunctionScope:
    """Context of one call of a converted function: its options, those for the functions it calls, and its name scope
    if it has one."""

    __slots__ = ("name", "options", "callopts", "_entered")

    def __init__(self, function_name, scope_name, options):
        self.name = scope_name
        self.options = options
        self.callopts = options.call_options()
        self._entered = []
        if options.user_requested:
            self._entered.append(ControlStatusCtx(Status.ENABLED, options))
        if options.uses(Feature.NAME_SCOPES):
            # A scope at the top may not begin with an underscore.
            self._entered.append(
                _tf.name_scope("fn" + function_name if function_name.startswith("_") else function_name)
            )

    def __enter__(self):
        for context in self._entered:
            context.__enter__()
        return self

    def __exit__(self, *exc):
        for context in reversed(self._entered):
            context.__exit__(*exc)

    def ret(self, value, did_return):
        """The value that the function gives back: None where nothing was returned."""
        return None if isinstance(value, UndefinedReturnValue) else value


def with_function_scope(thunk, scope_name, options):
    """The form for lambdas."""
    with FunctionScope("lambda_", scope_name, options) as scope:
        return thunk(scope)
