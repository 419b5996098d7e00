"""What a run costs, beside the least that any job over the same events costs."""
