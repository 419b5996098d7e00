"""The sessions and events that a run takes in."""
