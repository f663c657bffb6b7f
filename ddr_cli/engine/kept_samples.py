"""The samples of generated data whose embeddings a run has stored."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ddr_cli.data.cards import load_card
from ddr_cli.rows.manifest import DataIdentity
from ddr_cli.spec import Spec
from ddr_cli.spec.components import ClassifierSpec, ReducerSpec
from ddr_cli.spec.sweeps import TRAIN

_GENERATED = "generated"  # the licence in the cards of generated data


def generated_samples(spec: Spec, data: DataIdentity) -> tuple[str, NDArray[np.float64]] | None:
    """Return the features of the samples whose embeddings are stored, with the hash of their split.

    None for measured data, because a figure reads no data files.
    """
    # Importing these modules loads scikit-learn.
    from ddr_cli.data import load_dataset
    from ddr_cli.engine.plan.plan import make_plan
    from ddr_cli.engine.work.draws import Draws
    from ddr_cli.engine.work.schedule import kept_rows

    card = load_card(spec.card)
    if card.licence != _GENERATED or card.generate is None or spec.embeddings is None:
        return None
    dataset = load_dataset(spec.card, options=data.options)
    if dataset.fingerprint != data.fingerprint:
        return None
    # The samples do not depend on the methods. Placeholders are used because the methods of a spec
    # for an older `ddr` may have had other parameters.
    pieces = {"reducers": (ReducerSpec(name="none"),), "classifiers": (ClassifierSpec(name="knn"),)}
    sweep = {name: values for name, values in spec.sweep.items() if name == TRAIN}
    update = {**pieces, "measures": (), "controls": (), "tune": None, "sweep": sweep}
    plan = make_plan(spec.model_copy(update=update), data)
    split, seed, _ = Draws(plan, dataset)(next(iter(plan.fits)))
    rows = np.concatenate([split.train, split.test])
    kept = np.asarray(kept_rows(spec.embeddings.points, len(rows), seed), dtype=np.intp)
    return split.hash, np.asarray(dataset.X[rows[kept]], dtype=float)
