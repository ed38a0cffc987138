"""What join work costs a CPU, per step of SNJoin's cost table (SNJoin §6, Fig. 4)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CpuCosts:
    """Microseconds of a mote's CPU per step."""

    hash: float
    insert: float
    probe: float
    form: float
    """Per partner put into a result."""

    def reading_us(self, tables: int, partners: int) -> float:
        """Insert-probe: hash the value, insert it, probe the tables, form the result."""
        return self.hash + self.insert + tables * self.probe + partners * self.form

    def probe_us(self, tables: int, partners: int) -> float:
        """A probe request served: hash, probe the tables, form."""
        return self.hash + tables * self.probe + partners * self.form

    def result_us(self, partners: int) -> float:
        """A result put together at the sink."""
        return self.hash + partners * self.form

    def feedback_us(self) -> float:
        """A feedback note taken in: find the row, update it."""
        return self.hash + self.insert
