"""What a run writes: tables, kinds, rows, the recorder and the manifest."""
