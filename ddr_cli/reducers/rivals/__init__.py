"""Other libraries' methods, each adapted to what the engine asks of a reducer."""
