"""How copies of a variable on several devices are one variable."""

import enum


class VariableSynchronization(enum.Enum):
    """When copies of a variable on several devices are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregationV2(enum.Enum):
    """How values from several replicas become one."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        if isinstance(other, VariableAggregationV2):
            return self.value == other.value
        return isinstance(other, VariableAggregation) and self.value == other.value


class VariableAggregation(enum.Enum):
    """Version 1's names of the same."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return isinstance(other, (VariableAggregation, VariableAggregationV2)) and self.value == other.value
