"""What a result folder holds: the journal, the manifest, kept embeddings and tracebacks."""
