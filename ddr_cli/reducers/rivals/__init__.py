"""What the papers' methods are compared with: reducers of today's libraries, or written here."""
