"""How results are produced and scored: splits, preprocessing, classifiers, metrics, statistics."""
