"""What a model is, where models come from, and how they hang together."""
