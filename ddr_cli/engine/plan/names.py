"""Kinds of neighbour searches; light to import, because every worker process imports them."""

TRANSDUCTIVE = "transductive"
OUT_OF_SAMPLE = "out_of_sample"
QUERIES = "queries"
