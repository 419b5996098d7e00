"""What happens in a run: decided in plan.py, carried out in run.py."""
