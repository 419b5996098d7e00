"""The public surface: what `windrow` offers, and what it takes to import it."""

import subprocess
import sys

import windrow


def test_all_names_are_there_and_sorted():
    assert windrow.__all__ == sorted(windrow.__all__)
    assert all(hasattr(windrow, name) for name in windrow.__all__)


def test_nothing_public_is_unnamed():
    modules = {name for name in vars(windrow) if f"windrow.{name}" in sys.modules}
    public = {name for name in vars(windrow) if not name.startswith("_")} - modules
    assert public - {"model"} <= set(windrow.__all__)


def test_the_engine_imports_without_the_command_lines_libraries():
    code = (
        "import sys; sys.modules['typer'] = sys.modules['rich'] = None; "
        "import windrow, windrow.engine.run, windrow.project; print(windrow.__version__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == windrow.__version__
