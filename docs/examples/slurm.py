"""Run a spec on forty cores of a Slurm cluster: `python slurm.py landsat_ccdr_beta`."""

import subprocess
import sys

from dask_jobqueue import SLURMCluster

with SLURMCluster(
    queue="normal",
    cores=1,
    processes=1,
    memory="4GB",
    walltime="02:00:00",
    job_script_prologue=["export OMP_NUM_THREADS=1"],
) as cluster:
    cluster.scale(jobs=40)
    cluster.get_client().wait_for_workers(1)
    command = ["ddr", "run", *sys.argv[1:], "--backend", "dask"]
    command += ["--scheduler", cluster.scheduler_address]
    raise SystemExit(subprocess.run(command, check=False).returncode)
