"""Code that does not come with `ddr` runs in processes of its own.

Such a process never gets a test label, and nothing that it sends can run code: answers are JSON and
the bytes of arrays, never pickles. Elsewhere a stand-in takes the place of the class, so that the
rest of the program calls it like any other.
"""
