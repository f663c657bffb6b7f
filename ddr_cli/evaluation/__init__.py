"""How results are obtained and judged: splits, preprocessing, classifiers, metrics, statistics."""
