"""Where data sets' files are found, downloaded, imported and kept."""
