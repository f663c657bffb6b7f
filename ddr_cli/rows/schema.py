"""The tables that the rooms hand each other; read this first.

A run is planned (`PLAN`), its finished trials are `ROWS`, their means are a `SUMMARY`; a paper's
numbers and claims become `VERDICTS`, and a suite's methods a `BOARD`. Each table is a mapping of
its columns to a type and a sentence. Everything that is shown is made of one of these tables.
"""

from __future__ import annotations

Columns = dict[str, tuple[type, str]]

IDENTITY = ("trial_id", "dataset", "split", "split_hash", "reducer", "classifier")
# The spec can change these without changing a trial.
NAMING = ("reducer_label", "classifier_label", "control")
DESCRIBING = (*IDENTITY, *NAMING)
# A trial log has only those of these columns that its spec uses.
OPTIONAL = ("split.train", "labels", "tuned", "inner_score", "tune_seconds")
OUTCOME = ("status", "reason", "fit_seconds", "eval_seconds")

PLAN: Columns = {
    "trial_id": (str, "hash of everything that determines the trial's numbers"),
    "dataset": (str, "name of the data set's card"),
    "split": (str, "kind and number of the split, such as resample-7"),
    "reducer": (str, "name of the method; its parameters are reducer.*"),
    "classifier": (str, "name of the classifier or measure; its parameters are classifier.*"),
    "reducer_label": (str, "the method's name in tables"),
    "classifier_label": (str, "the classifier's name in tables"),
    "control": (str, "the control that the trial is; empty for a method"),
    "split.train": (float, "size of the training set, if the spec varies it"),
    "labels": (str, "labelled training samples per class, or all"),
    "tuned": (int, "number of candidate settings, if the trial is tuned"),
}

ROWS: Columns = PLAN | {
    "split_hash": (str, "hash of the split's samples; equal hashes mean equal samples"),
    "inner_score": (float, "mean score of the selected setting on the inner folds"),
    "tune_seconds": (float, "CPU time of tuning"),
    "status": (str, "ok, failed or timeout"),
    "reason": (str, "why the trial failed"),
    "fit_seconds": (float, "CPU time of the embedding's fit, which trials may share"),
    "eval_seconds": (float, "CPU time of the classifier or measure"),
}
"""And one column per metric; a failed trial has the scores of the majority-class baseline."""

SUMMARY: Columns = {
    "dataset": (str, "name of the data set's card"),
    "reducer": (str, "name of the method; its parameters are reducer.*"),
    "reducer_label": (str, "the method's name in tables"),
    "classifier": (str, "name of the classifier or measure; its parameters are classifier.*"),
    "classifier_label": (str, "the classifier's name in tables"),
    "control": (str, "the control that the row is; empty for a method"),
    "split.train": (float, "size of the training set, if the spec varies it"),
    "labels": (str, "labelled training samples per class, or all"),
    "tuned": (bool, "whether the setting was selected on inner folds"),
    "split": (str, "family of splits, such as resample"),
    "metric": (str, "name of the metric"),
    "n": (int, "trials with a score"),
    "failed": (int, "failed trials among them"),
    "planned": (int, "trials that the spec has"),
    "mean": (float, "mean over splits"),
    "sd": (float, "standard deviation over splits (n - 1)"),
    "low": (float, "lower end of the interval of single splits"),
    "high": (float, "upper end of the interval of single splits"),
    "level": (float, "level of the interval of single splits"),
    "interval": (str, "what varies between low and high"),
    "mean_low": (float, "lower end of the corrected interval of the mean"),
    "mean_high": (float, "upper end of the corrected interval of the mean"),
    "mean_level": (float, "level of the interval of the mean"),
    "mean_interval": (str, "how the interval of the mean is corrected"),
    "chosen": (str, "the setting that was selected most often, if tuned"),
}
"""A row for each method, setting, family of splits and metric, and its parameters reducer.* and
classifier.*."""

VERDICTS: Columns = {
    # The entry of a paper's file, the same in both views.
    "paper": (str, "the paper's name"),
    "artefact": (str, "the table or figure that has the number, or whose runs test the claim"),
    "kind": (str, "numbers (and ratings), claims, parts of claims, artefacts without a number"),
    "id": (str, "the entry's name, unique in its paper and kind"),
    "claim": (str, "the claim that has the sub-claim"),
    "row": (str, "its row in the paper's table"),
    "column": (str, "its column in the paper's table"),
    "where": (str, "its place in the paper, for readers"),
    "text": (str, "what it is about, for readers"),
    "reading": (str, "another interpretation of the paper than the counted one"),
    "same_as": (str, "the entry that is the same printed number"),
    "metric": (str, "the compared metric"),
    "printed": (str, "the printed number with its sd, or the rating with its meaning"),
    "printed_value": (float, "the printed number"),
    "printed_sd": (float, "the printed standard deviation"),
    "printed_mark": (str, "the printed rating"),
    "remark": (str, "a remark of the paper's file"),
    "why": (str, "why a threshold is not the glossary's, or a result is calibration"),
    "reason": (str, "why ours differs, or 'unknown'"),
    "methods": (str, "the methods that it is about"),
    "threshold": (str, "the word of the glossary with its thresholds"),
    "fixed": (str, "when the threshold was fixed, before or after the first result"),
    "claims": (str, "the ids of the claims about the same row of ours"),
    "said": (str, "these claims with both verdicts, a line each"),
    "same_splits": (bool, "whether both views use the same splits, the second with an interval"),
    "differs": (bool, "whether the verdicts of both views on a claim differ"),
    "than": (str, "the method whose training time divides ours and the printed one"),
    "printed_ratio": (float, "the printed ratio of training times"),
    "ratio": (float, "our ratio of training times"),
    # What our results say, in one view.
    "view": (str, "own (the paper's setting) or resplits"),
    "verdict": (str, "the verdict"),
    "counted": (bool, "whether it counts"),
    "shown": (str, "the verdict, in parentheses with the reason if it does not count"),
    "ours": (str, "our number, or the numbers behind the verdict, or why there are none"),
    "mark": (str, "our rating"),
    "apart": (str, "ours minus printed, with twice its Monte-Carlo error or the binomial error"),
    "split": (str, "the family of splits"),
    "n": (float, "the number of splits"),
    "mean": (float, "our mean"),
    "sd": (float, "our standard deviation over the splits"),
    "separability": (float, "our median: accuracy kept"),
    "silhouette": (float, "our median: silhouette"),
    "subclass_accuracy": (float, "our median: sub-class accuracy"),
    "difference": (float, "ours minus printed"),
    "error": (float, "the Monte-Carlo error of both"),
    "p": (float, "the p-value of a claim over re-splits"),
    "alone": (bool, "whether a claim holds without Holm's correction only"),
    "setting": (str, "the swept parameters of our row"),
    "note": (str, "which method the difference favours, and whether the row is trivial"),
    "rows": (str, "the rows of the trial logs"),
}
"""A row for each view of a printed number, a claim or a sub-claim of a paper."""

_AGAINST = {
    "difference": (float, "median difference of the metric over data sets"),
    "wins": (float, "data sets on which the method is better"),
    "equal": (float, "data sets on which both are equal"),
    "losses": (float, "data sets on which the method is worse"),
    "p": (float, "p-value of Wilcoxon's test over data sets"),
    "p_holm": (float, "the p-value with Holm's correction"),
}

BOARD: Columns = {
    "place": (int, "rank by score; equal scores share it"),
    "method": (str, "label of the method"),
    "datasets": (int, "data sets that count"),
    "score": (float, "mean over data sets: 0 is the majority-class baseline, 1 is no error"),
    "low": (float, "lower end of the score's bootstrap interval"),
    "high": (float, "upper end of the score's bootstrap interval"),
    "mean": (float, "mean of the metric over data sets"),
    "rank_low": (float, "lower end of the rank's interval"),
    "rank_high": (float, "upper end of the rank's interval"),
    "first": (float, "fraction of resamples of the data sets in which the method ranks first"),
    "failed": (float, "fraction of failed splits"),
    "seconds": (float, "mean CPU time of a fit with its tuning"),
    **{f"best_{name}": column for name, column in _AGAINST.items()},
    **{f"baseline_{name}": column for name, column in _AGAINST.items()},
}
"""A row for each method of a track with one classifier; `best_` and `baseline_` compare it."""
