"""What people ask for beside a plain run."""
