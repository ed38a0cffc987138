"""How many jobs and stages Spark runs for something."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import SparkSession


@dataclass
class Jobs:
    """Jobs and stages that were begun within a block."""

    jobs: int = 0
    stages: int = 0


@contextmanager
def jobs_of(spark: SparkSession) -> Iterator[Jobs]:
    """Count the jobs and stages of a block; the numbers are there when it ends."""
    # The scheduler numbers them from 0 on.
    scheduler = spark.sparkContext._jsc.sc().dagScheduler()
    counted = Jobs()
    jobs, stages = scheduler.nextJobId(), scheduler.nextStageId()
    yield counted
    counted.jobs = scheduler.nextJobId() - jobs
    counted.stages = scheduler.nextStageId() - stages
