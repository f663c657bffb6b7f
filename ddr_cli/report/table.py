"""The former name of a grid."""

from ddr_cli.show.page import Grid as Table

__all__ = ["Table"]
