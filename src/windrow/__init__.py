"""windrow: raw behavioural events into the tables analysts use, session by session, on Spark."""

import logging as _logging

from windrow.assembly import Choice
from windrow.columns.rules import column
from windrow.engine.checking import CheckReport
from windrow.engine.plan import Plan
from windrow.engine.result import RunResult
from windrow.engine.steps import RunFacts, Step
from windrow.engine.watching import Begun, Watcher
from windrow.errors import (
    ConfigError,
    LockedError,
    RefusedError,
    RunFailedError,
    SourceError,
    SparkStartError,
    TableError,
    UsageError,
    WindrowError,
)
from windrow.models.checks import (
    AcceptedValues,
    CheckResult,
    Expression,
    NotNull,
    OneValuePer,
    Relationship,
    Unique,
)
from windrow.models.model import Model, model, stored
from windrow.operations.adoption import Adoption
from windrow.operations.diff import Diff
from windrow.operations.explain import Explanation
from windrow.operations.freshness import Flow, Freshness, Pauses
from windrow.operations.metrics import Metric, Sample
from windrow.operations.overview import Overview
from windrow.operations.several_packages import PackageRuns
from windrow.operations.status import PackageStatus
from windrow.project import Project
from windrow.state.limits import Limits, State
from windrow.tables.comparison import Comparison, compare

__version__ = "0.1.0"

# What windrow logs, tracebacks of models that failed, goes where an application wants it: the
# command line, to .windrow/logs/windrow.log; nobody, nowhere.
_logging.getLogger("windrow").addHandler(_logging.NullHandler())

__all__ = [
    "AcceptedValues",
    "Adoption",
    "Begun",
    "CheckReport",
    "CheckResult",
    "Choice",
    "Comparison",
    "ConfigError",
    "Diff",
    "Explanation",
    "Expression",
    "Flow",
    "Freshness",
    "Limits",
    "LockedError",
    "Metric",
    "Model",
    "NotNull",
    "OneValuePer",
    "Overview",
    "PackageRuns",
    "PackageStatus",
    "Pauses",
    "Plan",
    "Project",
    "RefusedError",
    "Relationship",
    "RunFacts",
    "RunFailedError",
    "RunResult",
    "Sample",
    "SourceError",
    "SparkStartError",
    "State",
    "Step",
    "TableError",
    "Unique",
    "UsageError",
    "Watcher",
    "WindrowError",
    "column",
    "compare",
    "model",
    "stored",
]
