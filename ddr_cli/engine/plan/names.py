"""Names that a plan and its jobs share; light to import, since every worker process does."""

TRANSDUCTIVE = "transductive"
OUT_OF_SAMPLE = "out_of_sample"
QUERIES = "queries"


def candidate_id(trial_id: str, number: int) -> str:
    """Return what the evaluation of a trial's candidate of that number is called."""
    return f"{trial_id}/{number}"


def candidate_of(evaluation_id: str) -> tuple[str, int]:
    """Return the trial that an evaluation is for, and the number of the candidate."""
    trial_id, _, number = evaluation_id.partition("/")
    return trial_id, int(number or 0)
