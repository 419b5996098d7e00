"""A Spark session that starts quietly, and the Java it needs."""
