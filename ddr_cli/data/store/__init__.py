"""Where the files of data sets are found, downloaded, imported and stored."""
