"""Marks for tools that make documentation: attributes of what they decorate. tf-keras."""


def _mark(attribute):
    def mark(obj):
        setattr(obj, attribute, None)
        return obj

    return mark


def inheritable_header(text):
    """A text above the documentation of a class and its subclasses."""

    def decorator(obj):
        obj._tf_docs_inheritable_header = text
        return obj

    return decorator


header = inheritable_header


def get_inheritable_header(obj):
    return getattr(obj, "_tf_docs_inheritable_header", None)


get_header = get_inheritable_header
set_deprecated = _mark("_tf_docs_deprecated")
do_not_generate_docs = _mark("_tf_docs_do_not_document")
do_not_doc_inheritable = do_not_doc_in_subclasses = _mark("_tf_docs_do_not_doc_inheritable")
for_subclass_implementers = _mark("_tf_docs_tools_for_subclass_implementers")
doc_private = _mark("_tf_docs_doc_private")
doc_in_current_and_subclasses = _mark("_tf_docs_doc_in_current_and_subclasses")
