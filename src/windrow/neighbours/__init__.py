"""What windrow stands beside: schedulers, lineage, monitoring. A file and an extra for each.

Nothing else imports these libraries, and each is loaded when its file is used.
"""
