"""Join operators as pure cores, relevance feedback, SNJoin* and the sink's answer."""

import sim.compiled as _compiled  # noqa: F401 (finds the compiled modules of this package)
