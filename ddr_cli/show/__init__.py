"""A page of blocks, and its renderers, which know nothing of the project."""
