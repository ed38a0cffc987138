"""Errors in fates, results, the answer, clusters, requests and counts."""

from typing import Any

from tests.support.planting.planted import Cells, Planted


def _result(run: Planted, width: int = 3) -> Cells:
    """A result with enough partners, of a reading whose request went all the way."""
    finished = {
        (row["origin"], row["origin_at_us"]) for row in run.every("requests", outcome="finished")
    }
    return run.first(
        "results",
        lambda row: (
            (row["origin"], row["origin_at_us"]) in finished
            and row["arity"] >= width
            and row["at_us"] > 20_000_000
        ),
        amends=False,
    )


def result_before_its_reading(run: Planted) -> None:
    row = _result(run)
    row["at_us"] = row["origin_at_us"] - 1000
    row["delay_us"] = -1000


def fate_before_its_reading(run: Planted) -> None:
    row = run.first("fates")
    row["at_us"] = row["origin_at_us"] - 1


def fate_missing(run: Planted) -> None:
    run.remove("fates", run.first("fates", fate="joined"))


def fate_twice(run: Planted) -> None:
    run.repeat("fates", run.first("fates", fate="joined"))


def fate_of_no_reading(run: Planted) -> None:
    run.first("fates", fate="joined")["origin_at_us"] += 1


def dropped_without_reason(run: Planted) -> None:
    run.first("fates", fate="dropped")["reason"] = None


def drop_not_listed(run: Planted) -> None:
    run.remove("drops", run.first("drops", kind="reading"))


def joined_at_no_head(run: Planted) -> None:
    heads = {row["head"] for row in run.tables["elections"]}
    strangers = {row["node"] for row in run.tables["elections"]} - heads
    run.first("fates", fate="joined")["head"] = min(strangers)


def counted_fates_wrong(run: Planted) -> None:
    run.manifest["counts"]["fates"]["joined"] -= 1


def partner_never_sensed_it(run: Planted) -> None:
    _result(run)["partners"][0]["at_us"] += 1


def partner_out_of_the_window(run: Planted) -> None:
    window_us = round(run.manifest["scenario"]["join"]["window_s"] * 1e6)
    row = _result(run)
    old = run.first(
        "readings",
        lambda made: (
            made["node"] != row["origin"] and made["stamp_us"] < row["origin_at_us"] - window_us
        ),
        value=row["value"],
    )
    row["partners"].append({"node": old["node"], "at_us": old["stamp_us"]})


def partner_is_the_origin(run: Planted) -> None:
    row = _result(run)
    row["partners"].append({"node": row["origin"], "at_us": row["origin_at_us"]})


def partner_has_another_value(run: Planted) -> None:
    row = _result(run)
    partner = row["partners"][0]
    run.first("readings", node=partner["node"], stamp_us=partner["at_us"])["value"] += 1000


def origin_never_sensed_it(run: Planted) -> None:
    _result(run)["origin_at_us"] += 1


def pair_reported_twice(run: Planted) -> None:
    row = _result(run)
    run.repeat("results", row, amends=True, partners=row["partners"][:1])


def result_twice(run: Planted) -> None:
    run.repeat("results", _result(run))


def arity_wrong(run: Planted) -> None:
    _result(run)["arity"] += 1


def delay_wrong(run: Planted) -> None:
    _result(run)["delay_us"] += 10


def _departure(run: Planted) -> Cells:
    return run.first("results", lambda row: bool(row["partners"]), origin=None, change="u")


def result_lost(run: Planted) -> None:
    run.remove("results", _result(run))


def partner_lost(run: Planted) -> None:
    row = _result(run)
    oldest = min(row["partners"], key=lambda partner: partner["at_us"])
    row["partners"].remove(oldest)
    row["arity"] -= 1


def answer_size_wrong(run: Planted) -> None:
    _result(run)["answer"] += 1


def change_wrong(run: Planted) -> None:
    row = _result(run)
    row["change"] = "+" if row["change"] == "u" else "u"


def departure_missing(run: Planted) -> None:
    run.remove("results", _departure(run))


def departure_too_early(run: Planted) -> None:
    _departure(run)["at_us"] -= 10_000


def counted_results_wrong(run: Planted) -> None:
    run.manifest["counts"]["mean_width"] += 0.01


def _member(run: Planted) -> Cells:
    return run.first("elections", lambda row: row["head"] != row["node"])


def head_is_no_head(run: Planted) -> None:
    one, other = _two_members(run)
    one["head"] = one["via"] = other["node"]


def _two_members(run: Planted) -> tuple[Cells, Cells]:
    members = [row for row in run.every("elections", round=0) if row["head"] != row["node"]]
    one = members[0]
    other = next(row for row in members if row["head"] != one["head"])
    return one, other


def next_hop_in_another_cluster(run: Planted) -> None:
    one, other = _two_members(run)
    one["via"] = other["node"]


def elected_twice(run: Planted) -> None:
    run.repeat("elections", _member(run))


def counted_rounds_wrong(run: Planted) -> None:
    run.manifest["counts"]["rounds"] += 1


def roster_longer_than_enrolments(run: Planted) -> None:
    counts: dict[str, Any] = run.manifest["counts"]
    arrived = len(run.every("messages", kind="enrol"))
    counts["mean_enrolled"] = (arrived + 1) / counts["rounds"]


def more_heads_known_than_listed(run: Planted) -> None:
    run.first("requests")["known"] = run.manifest["scenario"]["motes"]["count"] + 1


def probed_who_was_never_head(run: Planted) -> None:
    heads = {row["head"] for row in run.tables["elections"]}
    strangers = {row["node"] for row in run.tables["elections"]} - heads
    run.first("requests", lambda row: bool(row["heads"]))["heads"][0] = min(strangers)


def passed_over_who_was_not_chosen(run: Planted) -> None:
    row = run.first("requests", outcome="finished")
    row["passed_over"] = [next(node for node in range(100) if node not in row["heads"])]


def probe_missing(run: Planted) -> None:
    run.remove("probes", run.first("probes"))


def more_heads_matched_than_probed(run: Planted) -> None:
    row = run.first("probes")
    row["heads_matched"] = row["heads_probed"] + 1


def request_missing(run: Planted) -> None:
    row = run.first("requests", outcome="finished")
    key = (row["origin"], row["origin_at_us"])
    for table in ("requests", "probes"):
        run.tables[table] = [
            r for r in run.tables[table] if (r["origin"], r["origin_at_us"]) != key
        ]
