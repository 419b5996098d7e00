"""A run as a task of Airflow 3.

    WindrowRunOperator(task_id="web", project_dir="/srv/shop", target="prod", retries=3)

It starts `windrow run` as a process and hands its `--json` document to XCom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from windrow.neighbours.missing import needing
from windrow.neighbours.process import LOCKED, NOT_HEALED_BY_RETRIES, RunCommand, RunProcess

with needing("airflow"):
    from airflow.sdk import BaseOperator
    from airflow.sdk.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowSkipException,
    )


class WindrowRunOperator(BaseOperator):  # type: ignore[misc]  # the library is not there to ask
    """Bring a project's tables up to date.

    A run that cannot succeed by being repeated, exit codes 2 and 4, fails without retries. One that
    finds its package held by another, exit code 3, is retried, or skipped with `when_locked`. All
    else that is not success is retried, as often as the task says.
    """

    template_fields = ("project_dir", "target", "package", "select", "exclude", "vars", "env")
    ui_color = "#e3ecf5"

    def __init__(
        self,
        *,
        project_dir: str,
        target: str | None = None,
        package: str | None = None,
        select: str | Sequence[str] = (),
        exclude: str | Sequence[str] = (),
        vars: Mapping[str, Any] | None = None,
        until_caught_up: bool = False,
        check: bool = False,
        when_locked: Literal["retry", "skip"] = "retry",
        command: str | Sequence[str] = "windrow",
        env: Mapping[str, str] | None = None,
        **task: Any,
    ) -> None:
        super().__init__(**task)
        self.project_dir, self.target, self.package = project_dir, target, package
        self.select, self.exclude, self.vars = select, exclude, vars
        self.until_caught_up, self.check, self.when_locked = until_caught_up, check, when_locked
        self.command, self.env = command, env
        self._running: RunProcess | None = None

    def execute(self, context: Any) -> dict[str, Any]:
        """Run, and give the document that `windrow run --json` prints."""
        asked = RunCommand(
            project_dir=self.project_dir,
            target=self.target,
            package=self.package,
            select=_several(self.select),
            exclude=_several(self.exclude),
            vars=self.vars,
            until_caught_up=self.until_caught_up,
            check=self.check,
            command=_several(self.command),
        )
        self.log.info("%s", " ".join(asked.arguments))
        self._running = RunProcess(asked, self.env)
        ended = self._running.wait(self.log.info)
        if ended.exit_code == 0:
            return ended.document
        if ended.exit_code == LOCKED and self.when_locked == "skip":
            raise AirflowSkipException(ended.message)
        if ended.exit_code in NOT_HEALED_BY_RETRIES:
            raise AirflowFailException(ended.message)
        raise AirflowException(ended.message)

    def on_kill(self) -> None:
        """Have the run stop by itself: it takes back what it has begun, and ends with 143."""
        if self._running is not None:
            self._running.stop()


def _several(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
