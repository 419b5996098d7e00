"""Parts that models of several packages are made of, by the names of session and user columns."""
