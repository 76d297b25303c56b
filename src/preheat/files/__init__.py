"""Files: found, opened whatever their compression, and written whole or not at all."""
