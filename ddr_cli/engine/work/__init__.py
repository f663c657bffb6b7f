"""Running trials: splits, fits, scores, tuning, and the processes that do them."""
