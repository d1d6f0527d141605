"""Profiles: what ran when."""
