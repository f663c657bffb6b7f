"""Worker processes are forks of a process with loaded libraries, and share nothing else."""

import os

from ddr_cli.engine.work.local import LocalExecutor

DRAW = "__import__('numpy').random.random()"
LOADED = "{'sklearn.base', 'pandas', 'matplotlib'} & set(__import__('sys').modules)"


def test_each_worker_draws_numbers_of_its_own_and_has_the_environment_of_today(monkeypatch):
    drawn = set()
    for number in range(2):
        monkeypatch.setenv("DDR_TEST_VARIABLE", str(number))
        executor = LocalExecutor(1)
        try:
            assert executor.capacity == 2
            pool = executor._pool
            assert pool is not None
            assert pool.schedule(os.getenv, args=("DDR_TEST_VARIABLE",)).result() == str(number)
            assert pool.schedule(os.getenv, args=("OMP_NUM_THREADS",)).result() == "1"
            assert pool.schedule(eval, args=(LOADED,)).result() == {"sklearn.base"}
            drawn.add(pool.schedule(eval, args=(DRAW,)).result())
        finally:
            executor.stop()
    assert len(drawn) == 2


def test_a_process_does_no_job_after_it_was_told_to_end():
    executor = LocalExecutor(1)

    def process():
        assert executor.capacity == 2
        assert executor._pool is not None
        return executor._pool.schedule(os.getpid).result()

    try:
        before = process()
        executor.discard()
        assert process() != before
    finally:
        executor.stop()
