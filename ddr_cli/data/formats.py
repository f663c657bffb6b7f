"""The formats a card can name: how files become arrays.

A format is a function ``(paths, *, <options>) -> RawData``. Its options are its keyword
parameters; a card's ``options:`` are checked against their annotations before any file is opened.
Other packages add formats in the entry-point group ``ddr.formats``.
"""

from __future__ import annotations

from ddr_cli.core.registry import Entry, Registry

FORMATS = Registry(
    "format",
    [
        Entry(
            "csv",
            "ddr_cli.data.formats_csv:read_csv",
            "text table: separated by commas, tabs, blanks or another sign; plain or gz",
        ),
        Entry("npz", "ddr_cli.data.formats_arrays:read_npz", "NumPy archive of X and y"),
        Entry("mat", "ddr_cli.data.formats_mat:read_mat", "MATLAB file, v5 or v7.3"),
        Entry(
            "mat_cells",
            "ddr_cli.data.formats_mat:read_mat_cells",
            "MATLAB file with a cell array of images, one row of cells per class",
        ),
        Entry("libsvm", "ddr_cli.data.formats_sparse:read_libsvm", "svmlight / LIBSVM text"),
        Entry(
            "letor",
            "ddr_cli.data.formats_sparse:read_letor",
            "LETOR query-document pairs: grade qid:N 1:v ... #docid",
        ),
        Entry("images", "ddr_cli.data.images:read_images", "folder or archive of image files"),
        Entry(
            "text",
            "ddr_cli.data.text:read_text",
            "folder or archive of text files, one folder per class",
        ),
    ],
    "ddr.formats",
)
