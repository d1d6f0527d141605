"""Tensors that are laid out over the devices of a mesh.

mesh.py and layout.py say where the parts are, tensors.py is the tensor with a layout and the way its ops take,
rules*.py how the results of ops are laid out, api.py what programs call; the rest are variables, files and datasets."""
