"""Every verb as a process of its own, with the session that windrow starts: one project's life.

What a verb does in detail is tested where it is made, with the suite's session.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable

from windrow.cli.app import COMMANDS

KILLED = -signal.SIGKILL
# Verb and options, what the answer holds, and the exit code. RUN: the run that came last; SESSION:
# one of those that were stored. What ends as KILLED is killed once a model has written its rows.
LIFE: list[tuple[str, str, int]] = [
    ("generate --start 2024-01-01 --days 3 --events-per-day 60", "180 events", 0),
    ("doctor", "✓ configuration", 0),
    ("ls --output name", "snowplow_web_users", 0),
    ("normalize", "is not in windrow.yml", 2),
    ("plan --now 2024-01-04", "First run", 0),
    ("run --until-caught-up --now 2024-01-04", "Reached 2024-01-03", 0),
    ("test", "passed", 0),
    ("status --now 2024-01-04", "Standard incremental run", 0),
    ("rerun --from 2024-01-02 --to 2024-01-03 --now 2024-01-04", "Live runs go on", 0),
    ("rollback RUN --yes", "Took back 1 run", 0),
    ("run --refresh-manifests --now 2024-01-04", "succeeded", 0),
    ("explain session SESSION --now 2024-01-04", "SESSION", 0),
    ("quarantine ls", "No session is in quarantine", 0),
    ("rerun --from 2024-01-02 --to 2024-01-03 --now 2024-01-04 --log-format json", "", KILLED),
    ("unlock", "web: the lock of run", 0),
    ("maintain --delete --retention-days 0", "Rollbacks reach back to", 0),
    ("diff derived derived", "Equal.", 0),
    ("adopt", "there is nothing to adopt", 4),
    ("metrics --now 2024-01-04", "windrow_runs_total", 0),
    ("report --now 2024-01-04", "report.html", 0),
]
ELSEWHERE = {"demo": "test_processes.py", "init": "here, before the others"}


def test_no_verb_is_left_out():
    assert {command.split()[0] for command, *_ in LIFE} | ELSEWHERE.keys() == COMMANDS.keys()


# Twenty starts of Java, on a machine that has other work to do as well.
@pytest.mark.timeout(3600)
@pytest.mark.ci
def test_a_projects_life(tmp_path: Path):
    assert windrow(tmp_path, "init", "shop").returncode == 0
    shop, known, unexpected = tmp_path / "shop", dict[str, str](), list[str]()
    for command, answer, exit_code in LIFE:
        if "SESSION" in command:
            known["SESSION"] = _a_session(shop)
        call = killed if exit_code == KILLED else windrow
        found = call(shop, *(known.get(word, word) for word in command.split()))
        said = f"{found.stdout}\n{found.stderr}".strip()
        if ran := re.search(r"\(run (\S+)\)", found.stdout):
            known["RUN"] = ran[1]
        if found.returncode != exit_code or known.get(answer, answer) not in said:
            unexpected.append(f"$ windrow {command}: {found.returncode}\n{said}")
    assert not unexpected, "\n\n".join(unexpected)


def windrow(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "windrow", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


def killed(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What comes of a process that is killed, and Java with it, when page views are written."""
    command = [sys.executable, "-m", "windrow", *arguments]
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, process_group=0
    ) as process:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if '"step": "page_views", "status": "done"' in line:
                os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(command, process.returncode, "", "".join(lines))


def _a_session(shop: Path) -> str:
    """The first session of the stored ones, as another reader of the tables sees them."""
    table = DeltaTable(str(shop / "warehouse" / "derived" / "snowplow_web_sessions"))
    rows = table.to_pyarrow_table(columns=["domain_sessionid"]).to_pylist()
    return min(str(row["domain_sessionid"]) for row in rows)
