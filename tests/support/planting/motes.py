"""Errors in energy, deaths, faults, messages and readings."""

from tests.support.planting.planted import Cells, Planted


def _last_sample(run: Planted, node: int) -> Cells:
    return run.first("energy", at_us=run.end_us, node=node)


def tx_j_raised(run: Planted) -> None:
    _last_sample(run, 3)["tx_j"] += 1e-3


def residual_below_zero(run: Planted) -> None:
    row = _last_sample(run, 3)
    row["tx_j"] += row["residual_j"] + 0.5
    row["residual_j"] = -0.5


def counted_energy_wrong(run: Planted) -> None:
    run.manifest["counts"]["energy_j"] *= 1.01


def idle_j_shrinks(run: Planted) -> None:
    *_, before, last = run.every("energy", node=5)
    last["sense_j"] = before["sense_j"] / 2
    battery_j = run.first("motes", node=5)["battery_j"]
    causes = ("tx_j", "rx_j", "idle_j", "cpu_j", "sense_j", "overhear_j", "sleep_j")
    last["residual_j"] = battery_j - sum(last[cause] for cause in causes)


def sample_of_a_mote_missing(run: Planted) -> None:
    run.remove("energy", run.first("energy", node=4, at_us=10_000_000))


def sample_twice(run: Planted) -> None:
    run.repeat("energy", run.first("energy", node=4, at_us=10_000_000))


def control_above_radio(run: Planted) -> None:
    row = _last_sample(run, 3)
    row["control_j"] = row["tx_j"] + row["rx_j"] + 1e-3


def rx_j_without_reception(run: Planted) -> None:
    dead = {row["node"] for row in run.tables["deaths"]}
    row = run.first("energy", lambda row: row["node"] not in dead, at_us=run.end_us)
    row["rx_j"] += 1e-5
    row["tx_j"] -= 1e-5


def death_missing(run: Planted) -> None:
    run.remove("deaths", run.tables["deaths"][0])


def death_with_energy_left(run: Planted) -> None:
    row = run.first("energy", lambda row: row["residual_j"] > 0, at_us=run.end_us)
    run.repeat("deaths", run.tables["deaths"][-1], node=row["node"], at_us=run.end_us - 1)


def death_twice(run: Planted) -> None:
    run.repeat("deaths", run.tables["deaths"][0], at_us=run.end_us - 1)


def transmission_missing(run: Planted) -> None:
    run.remove("messages", run.first("messages", kind="reading", outcome="delivered"))


def transmission_twice(run: Planted) -> None:
    run.repeat("messages", run.first("messages", kind="reading", outcome="delivered"))


def bytes_changed(run: Planted) -> None:
    run.first("messages", kind="result", outcome="delivered")["bytes"] += 1


def sent_raised(run: Planted) -> None:
    run.first("traffic", lambda row: row["sent"] > 0)["sent"] += 1


def received_raised(run: Planted) -> None:
    run.first("traffic", lambda row: row["received"] > 0)["received"] += 1


def second_shifted(run: Planted) -> None:
    run.first("traffic", lambda row: row["at_s"] > 10)["at_s"] += 1


def traffic_cell_twice(run: Planted) -> None:
    row = run.first(
        "traffic", lambda row: row["sent"] > 1 and not row["lost"] and not row["received"]
    )
    half = {name: row[name] // 2 for name in ("sent", "sent_bytes", "addressed")}
    run.repeat("traffic", row, **half)
    for name, amount in half.items():
        row[name] -= amount


def lost_called_delivered(run: Planted) -> None:
    run.first("messages", lambda row: row["target"] is not None, outcome="lost")["outcome"] = (
        "delivered"
    )


def more_received_than_addressed(run: Planted) -> None:
    run.first("messages", kind="reading", outcome="delivered")["received"] = 2


def sent_to_itself(run: Planted) -> None:
    row = run.first("messages", kind="probe", outcome="delivered")
    row["target"] = row["source"]


def arrives_before_it_is_sent(run: Planted) -> None:
    row = run.first("messages", kind="probe", outcome="delivered")
    row["arrived_us"] = row["at_us"] - 1


def sent_after_the_end(run: Planted) -> None:
    row = run.first("messages", kind="probe", outcome="delivered")
    row["at_us"] = run.end_us + 5
    row["arrived_us"] = run.end_us + 5000


def arrives_faster_than_its_airtime(run: Planted) -> None:
    row = run.first("messages", kind="probe", outcome="delivered")
    row["arrived_us"] = row["at_us"] + 8 * row["bytes"] - 1


def dead_mote_sends(run: Planted) -> None:
    row = run.tables["deaths"][0]
    row["at_us"] = max(sent["at_us"] for sent in run.every("messages", source=row["node"])) - 1


def dead_mote_senses(run: Planted) -> None:
    row = run.tables["deaths"][0]
    row["at_us"] = max(made["at_us"] for made in run.every("readings", node=row["node"])) - 1


def dead_mote_receives(run: Planted) -> None:
    row = run.tables["deaths"][0]
    sent = run.first("messages", kind="reading", outcome="delivered")
    sent["target"], sent["arrived_us"] = row["node"], row["at_us"] + 1000


def _crash(run: Planted) -> Cells:
    return run.first("faults", lambda row: row["at_us"] > 6_000_000, event="crash")


def crashed_mote_sends(run: Planted) -> None:
    crash = _crash(run)
    run.repeat(
        "messages", run.tables["messages"][-1], source=crash["node"], at_us=crash["at_us"] + 1
    )


def crashed_mote_senses(run: Planted) -> None:
    crash = _crash(run)
    at_us = crash["at_us"] + 1
    run.repeat(
        "readings", run.tables["readings"][0], node=crash["node"], at_us=at_us, stamp_us=at_us
    )


def crashed_mote_receives(run: Planted) -> None:
    crash = _crash(run)
    sent = run.first("messages", kind="reading", outcome="delivered")
    sent["target"], sent["arrived_us"] = crash["node"], crash["at_us"] + 1


def crashed_mote_elected(run: Planted) -> None:
    crash = _crash(run)
    run.repeat(
        "elections", run.tables["elections"][0], node=crash["node"], at_us=crash["at_us"] + 1
    )


def sink_receives_in_an_outage(run: Planted) -> None:
    down = run.first("faults", event="sink down")
    sent = run.first("messages", kind="result", outcome="delivered")
    sent["at_us"], sent["arrived_us"] = down["at_us"] + 1, down["at_us"] + 100_000


def reading_twice(run: Planted) -> None:
    run.repeat("readings", run.first("readings", value=None))


def stamp_differs_with_exact_clocks(run: Planted) -> None:
    run.first("readings", value=None)["stamp_us"] += 1


def recovery_without_crash(run: Planted) -> None:
    row = run.first("faults", event="crash")
    run.remove("faults", row)


def sink_up_before_down(run: Planted) -> None:
    down, up = run.first("faults", event="sink down"), run.first("faults", event="sink up")
    down["event"], up["event"] = up["event"], down["event"]


def fault_after_the_end(run: Planted) -> None:
    run.repeat("faults", run.tables["faults"][-1], node=7, event="crash", at_us=run.end_us + 1)


def removed_mote_in_the_cloud(run: Planted) -> None:
    removed = run.first("faults", event="removed")
    row = run.first("truth", lambda row: row["at_us"] > removed["at_us"])
    row["nodes"] = sorted({*row["nodes"], removed["node"]})


def unknown_node(run: Planted) -> None:
    run.first("drops")["node"] = 10_000
