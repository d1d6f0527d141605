"""The package behind the public names: weft/*.py and the folders beside this one only say where the names of TensorFlow's API are."""
