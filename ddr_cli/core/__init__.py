"""What every floor may import: errors, the lazy registry, parameter checks, shipped files."""
