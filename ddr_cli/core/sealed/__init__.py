"""Code that does not come with `ddr` runs in separate processes.

Such a process never gets a test label, and nothing that it sends can run code: answers are JSON and
the bytes of arrays, never pickles. In the other processes a stand-in replaces the class, so that
the rest of the program calls it like any other class.
"""
