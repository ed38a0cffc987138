"""Join operators as pure cores, relevance feedback, SNJoin* and the sink's answer."""
