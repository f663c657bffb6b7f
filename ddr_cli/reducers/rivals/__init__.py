"""Methods that the papers' methods are compared with, from libraries or written here."""
