"""What windrow remembers between runs, and how far back it can go."""
