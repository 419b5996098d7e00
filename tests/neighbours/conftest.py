"""What needs Airflow and Dagster is left to `make test-neighbours`, which says where windrow is."""

from __future__ import annotations

import os
import tempfile

collect_ignore: list[str] = []

if "WINDROW" in os.environ:
    # Airflow reads these when it is imported.
    os.environ["AIRFLOW_HOME"] = tempfile.mkdtemp(prefix="windrow-airflow-")
    os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "false"
else:
    collect_ignore += ["test_airflow.py", "test_dagster.py"]
