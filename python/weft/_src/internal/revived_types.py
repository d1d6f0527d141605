"""tf.__internal__.saved_model.load: classes that SavedModels' objects come back as, by the identifier in the file."""

_registered = {}  # identifier -> (predicate, registrations, the newest first)


class VersionedTypeRegistration:
    """One version of a class: how it is made and what it can read."""

    def __init__(
        self, object_factory, version, min_producer_version, min_consumer_version, bad_consumers=None, setter=setattr
    ):
        self.setter, self.version, self.identifier = setter, version, None
        self._factory = object_factory
        self._min_producer_version, self._min_consumer_version = min_producer_version, min_consumer_version
        self._bad_consumers = bad_consumers or []

    def to_proto(self):
        from weft._src.proto import SavedUserObject, VersionDef

        return SavedUserObject(
            identifier=self.identifier,
            version=VersionDef(
                producer=self.version, min_consumer=self._min_consumer_version, bad_consumers=self._bad_consumers
            ),
        )

    def from_proto(self, proto):
        return self._factory(proto)

    def should_load(self, proto):
        if proto.identifier != self.identifier or self.version < proto.version.min_consumer:
            return False
        return proto.version.producer >= self._min_producer_version and self.version not in proto.version.bad_consumers


def register_revived_type(identifier, predicate, versions):
    versions = sorted(versions, key=lambda v: v.version, reverse=True)
    numbers = set()
    for registration in versions:
        if registration.version in numbers:
            raise AssertionError(
                f"Got multiple registrations with version {registration.version} for type {identifier}."
            )
        numbers.add(registration.version)
        registration.identifier = identifier
    if identifier in _registered:
        raise AssertionError(f"Duplicate registrations for type '{identifier}'")
    _registered[identifier] = (predicate, versions)


def registered_identifiers():
    return _registered.keys()


def serialize(obj):
    """The SavedUserObject of an object of a registered class, or None."""
    for predicate, versions in _registered.values():
        if predicate(obj):
            return versions[0].to_proto()
    return None


def deserialize(proto):
    """(the object, how its attributes are set), or None."""
    for registration in _registered.get(proto.identifier, (None, ()))[1]:
        if registration.should_load(proto):
            return registration.from_proto(proto), registration.setter
    return None


def get_setter(proto):
    for registration in _registered.get(proto.identifier, (None, ()))[1]:
        if registration.should_load(proto):
            return registration.setter
    return None
