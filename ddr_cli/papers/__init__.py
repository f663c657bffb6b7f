"""What the five papers print and claim, as data: one YAML file per paper."""
