"""The content of a result folder: the journal, the manifest, stored embeddings and tracebacks."""
