"""Datasets, their iterators, readers and options."""
