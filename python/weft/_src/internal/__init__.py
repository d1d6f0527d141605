"""What libraries that build on TensorFlow use of its inside."""
