"""Figures of "Scheduling for shared window joins over data streams": workload, runs, drawing and verdicts."""
