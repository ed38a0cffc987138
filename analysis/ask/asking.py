"""Asks finished sweeps: Spark reads their metrics, the answer is worked out from what it finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from analysis.ask.answers import Answer, Ask, answer
from analysis.ask.evidence import gather
from analysis.ask.figures import answer_figure
from analysis.compare.captions import Origin
from analysis.compare.files import make_folder, write_table
from analysis.compare.run_plots import save_figures
from analysis.compare.sweep_folder import read_sweep
from analysis.spark.session import sized, spark_session
from analysis.store.place import Place
from sim.files import write_whole


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, and where its numbers come from."""

    answer: Answer
    origin: Origin

    def write(self, folder: Path) -> list[Path]:
        """Write sentence, table and figure; returns the files.

        Raises:
            InputError: the folder cannot be made.
        """
        make_folder(folder)
        text = folder / "answer.md"
        write_whole(text, f"{self.answer.sentence}\n\n{self.origin.sentence}\n")
        files = write_table(self.table, folder, "answer")
        figures = save_figures({"answer": answer_figure(self.answer)}, folder)
        return [text, *files, *figures["answer"]]

    @property
    def table(self) -> pa.Table:
        """The answer's table as numbers."""
        return pa.Table.from_pylist(self.answer.values)


def ask(
    sweeps: Sequence[Place],
    question: Ask,
    *,
    by: Sequence[str] = (),
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    command: str = "",
) -> Asked:
    """Answer a question over finished sweeps.

    Raises:
        InputError: a folder is no finished sweep, or there is no such metric or key.
        MachineError: Spark cannot be started.
    """
    folders = [read_sweep(path) for path in sweeps]
    rows = sum(folder.metrics.num_rows for folder in folders)
    spark = sized(spark_session(master, rows=rows, settings=settings), rows)
    evidence = gather(spark, folders, question.names, by=by, command=command)
    return Asked(answer(question, evidence), evidence.origin)
