"""Reads the `split:` of a document and checks it against its kind and the data set's card."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import field_validator, model_validator

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.positions import as_clause
from ddr_cli.core.validation import as_problem, error_at
from ddr_cli.data.card import Card, Expect
from ddr_cli.evaluation.split_file import read_split_file
from ddr_cli.evaluation.splits import LEAVE_ONE_OUT, check_folds, check_train, no_groups
from ddr_cli.spec.budgets import training_classes
from ddr_cli.spec.components import Context, Info
from ddr_cli.spec.model import SplitSpec
from ddr_cli.spec.sweeps import TRAIN

# Kinds whose test set is everything outside the training set, unless `test` limits it.
_WITH_REST = ("per_class", "fraction", "labelled")


class ReadSplit(SplitSpec):
    """The split of a document."""

    record: ClassVar = SplitSpec

    @field_validator("folds", "train")
    @classmethod
    def _size(cls, value: Any, info: Info) -> Any:
        kind, swept = info.data.get("kind"), TRAIN in info.context.swept
        with as_problem():
            if info.field_name == "folds" and kind is not None:
                check_folds(kind, value)
            elif kind is not None and "folds" in info.data and not (swept and value is None):
                check_train(kind, value, info.data["folds"])
        return value

    @field_validator("repeats", "predefined", "test")
    @classmethod
    def _of_the_kind(cls, value: Any, info: Info) -> Any:
        kind = info.data.get("kind")
        if info.field_name == "repeats" and kind == "predefined" and value != 1:
            raise ValueError(f"'repeats' must be 1 for the predefined split, but is {value}")
        if info.field_name == "test" and value is not None and kind not in (*_WITH_REST, None):
            raise ValueError(f"'test' needs the split kind {' or '.join(_WITH_REST)}, not {kind}")
        if info.field_name == "predefined" and value and kind not in ("resample", None):
            raise ValueError(f"`predefined: true` needs `kind: resample`, but the kind is {kind}")
        return value

    @model_validator(mode="after")
    def _of_the_data_set(self, info: Info) -> Self:
        """Record the size of the training set, if the card determines it without the data."""
        context = info.context
        self._check_source()
        if context.card is None or context.expect is None:
            return self
        card, expect = context.card, context.expect
        split = self
        if self.kind in ("predefined", "resample"):
            if expect.split is None and card.split is None:
                message = f"{card.name} has no predefined split; use `kind: fraction`."
                raise error_at(("kind",), message)
            context.n_train = expect.split.train if expect.split else None
        elif self.kind == "whole":
            context.n_train = expect.samples
        elif self.kind == "given":
            return self._given(context, card, expect)
        elif self.kind == "grouped":
            split = self._grouped(context, card, expect)
        if self.kind not in ("predefined", "whole") and TRAIN not in context.swept:
            try:
                sizes = training_classes(self.kind, expect, card.name, self.train, self.folds)
            except InputError as error:
                key = "train" if self.folds is None else "folds"
                raise error_at((key,), as_clause(error)) from None
            context.class_sizes = sizes
            context.n_train = sum(sizes.values()) if sizes else context.n_train
        return split

    def _check_source(self) -> None:
        """Reject a source of splits that is missing, or that the kind does not accept."""
        for name in ("file", "column", "sha256"):
            if self.kind != "given" and getattr(self, name) is not None:
                raise error_at((name,), f"'{name}' needs `kind: given`, not `{self.kind}`.")
        if self.kind == "given" and (self.file is None) == (self.column is None):
            message = (
                "`kind: given` needs either 'file' (a CSV table) or 'column' (a card's column)."
            )
            raise error_at((), message)

    def _given(self, context: Context, card: Card, expect: Expect) -> Self:
        if self.file is None:
            if card.parts is not None and self.column not in card.parts:
                known = f" The columns are {', '.join(card.parts) or 'none'}."
                message = (
                    f"{card.name} has no column of splits '{self.column}'; add this column to "
                    f"'parts' in the card.{did_you_mean(str(self.column), card.parts) or known}"
                )
                raise error_at(("column",), message)
            return self._with_repeats(1, "a column is one split")
        try:
            given = read_split_file((context.base or Path()) / Path(self.file).expanduser())
            if expect.samples is not None:
                given.check_rows(expect.samples, self.file, card.name)
        except InputError as error:
            raise error_at(("file",), as_clause(error)) from None
        if self.sha256 not in (None, given.sha256):
            message = f"{self.file} has changed; update 'sha256' to {given.sha256}."
            raise error_at(("sha256",), message)
        context.n_train = given.fewest_train
        split = self.model_copy(update={"sha256": given.sha256})
        return split._with_repeats(len(given.splits), f"the number of splits in {self.file}")

    def _grouped(self, context: Context, card: Card, expect: Expect) -> Self:
        if TRAIN in context.swept and self.folds is not None:
            message = "the spec sweeps 'split.train'; remove 'folds'."
            raise error_at(("folds",), message)
        if card.has_groups is False:
            raise error_at(("kind",), as_clause(InputError(no_groups(card.name))))
        n = expect.groups
        if n is not None and isinstance(self.folds, int) and n < self.folds:
            message = f"{card.name} has only {n} groups; set 'folds' to at most {n}."
            raise error_at(("folds",), message)
        if self.folds != LEAVE_ONE_OUT:
            return self
        if n is None:
            message = (
                f"the card of {card.name} lacks the number of groups; add 'groups: N' to 'expect'."
            )
            raise error_at(("folds",), message)
        if n < 2:
            raise error_at(
                ("folds",),
                f"{card.name} has only one group; use another kind of split.",
            )
        return self._with_repeats(n, f"the number of groups of {card.name}")

    def _with_repeats(self, n: int, what: str) -> Self:
        if "repeats" in self.model_fields_set and self.repeats != n:
            message = f"'repeats' must be {n} ({what}), but is {self.repeats}."
            raise error_at(("repeats",), message)
        return self.model_copy(update={"repeats": n})
