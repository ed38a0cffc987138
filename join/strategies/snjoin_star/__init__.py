"""SNJoin*: heads join their members' readings and probe other heads."""
