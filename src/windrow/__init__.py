"""windrow: raw behavioural events into the tables analysts use, session by session, on Spark."""

from windrow.checks import (
    AcceptedValues,
    CheckResult,
    Expression,
    NotNull,
    OneValuePer,
    Relationship,
    Unique,
)
from windrow.column_rules import column
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
from windrow.limits import Limits, State
from windrow.model import Model, model, stored
from windrow.plan import Plan
from windrow.project import Choice, Project
from windrow.run import RunResult
from windrow.run_checks import CheckReport
from windrow.status import PackageStatus
from windrow.steps import Step
from windrow.together import PackageRuns

__version__ = "0.1.0"

__all__ = [
    "AcceptedValues",
    "CheckReport",
    "CheckResult",
    "Choice",
    "ConfigError",
    "Expression",
    "Limits",
    "LockedError",
    "Model",
    "NotNull",
    "OneValuePer",
    "PackageRuns",
    "PackageStatus",
    "Plan",
    "Project",
    "RefusedError",
    "Relationship",
    "RunFailedError",
    "RunResult",
    "SourceError",
    "SparkStartError",
    "State",
    "Step",
    "TableError",
    "Unique",
    "UsageError",
    "WindrowError",
    "column",
    "model",
    "stored",
]
