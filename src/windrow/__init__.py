"""windrow: raw behavioural events into the tables analysts use, session by session, on Spark."""

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
from windrow.project import Project
from windrow.run import RunResult
from windrow.status import PackageStatus
from windrow.steps import Step

__version__ = "0.1.0"

__all__ = [
    "ConfigError",
    "Limits",
    "LockedError",
    "Model",
    "PackageStatus",
    "Plan",
    "Project",
    "RefusedError",
    "RunFailedError",
    "RunResult",
    "SourceError",
    "SparkStartError",
    "State",
    "Step",
    "TableError",
    "UsageError",
    "WindrowError",
    "column",
    "model",
    "stored",
]
