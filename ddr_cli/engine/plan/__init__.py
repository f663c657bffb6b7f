"""From a spec to its trials: fits, shared work, and the id of each trial."""
