"""The command line: one module per command, which parses arguments, calls the code and prints."""
