"""The papers' printed numbers and claims judged over our journals: quote, rows, test, verdict."""
