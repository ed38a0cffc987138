"""Errors: how far the sink's answer is from the exact one.

Definitions, for one run with window ω, in true time. Times are whole microseconds; an instant t lasts one microsecond, and
the run consists of the instants from 0 to its end, the end outside.

* The *exact answer*: mote m is in the set of value v at t if its newest reading of v is at most ω old (both edges belong to
  the window), and so is another mote's. Readings of other values do not matter. A *stay* is an interval without a break in
  which a mote is in the set of one value.
* The *sink's answer*, at level `sets`: `joined` of a row lists the motes that come into the set of its value, `partners` those that
  leave it. At level `results`, a result names its origin and partners as coming, and a row without an origin lists
  those that leave. A row counts from its instant on. Rows of one instant count together: a mote comes if more of them list it
  as coming than as leaving, leaves in the reverse case, and otherwise stays as it was; at level `results`, where many results name
  the same mote, each of the two counts once.
* A mote is *missed* while it is in the exact answer of a value and not in the sink's, and *wrong* in the reverse case. Such a stretch
  ends with a change of the sink's answer, with a change of the exact one, or with the run. If rows with a `delay_us` changed the
  sink's answer, up to `join.delay_s` plus the longest of these delays, counted back from its end, is delay and not error; what is
  left of it, and all of any other stretch, is *error*.
* missed and wrong are the sums of errors over all values and motes; exact is the same sum over the time in the exact answer.

All are null without a window, for joins of complete arity, and where results keep no partners.
"""
