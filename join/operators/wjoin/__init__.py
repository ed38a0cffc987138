"""The W-joins: nested loop, hash, merge, backward and forward evaluation."""
