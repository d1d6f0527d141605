"""A plugin of pytest: programs' flags have their defaults, as when a test file is run by itself."""


def pytest_collection_finish(session):
    from absl import flags

    flags.FLAGS(["test"], known_only=True)
