"""What version 1 has otherwise than version 2."""
