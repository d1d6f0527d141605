"""Version 1's sessions; v1/ has version 1's functions."""
