"""Where sweeps and runs are kept: a mounted folder or an object store, behind one interface."""
