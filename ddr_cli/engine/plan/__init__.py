"""From a spec to its trials: what is fitted, what is shared, and each trial's id."""
