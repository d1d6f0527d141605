"""Version 1's optimisers, savers, queues and monitored sessions."""
