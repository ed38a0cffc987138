"""The comparative sentences of Shared §3 (analysis) and §5 (experiments), in our own words."""

from scenarios.reproduce.figure import Claim

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "shared-lwo-equation",
        "§3.1.1, §5.1",
        "Measured response times of LWO agree with Eq. (1).",
    ),
    Claim(
        "shared-lwo-penalises-smallest",
        "§3.1.1, Fig. 2b",
        "Under LWO the query with the smallest window answers far later than when run alone.",
    ),
    Claim(
        "shared-swf-equation",
        "§3.2.1, §5.1",
        "Measured response times of SWF agree with Eq. (2).",
    ),
    Claim(
        "shared-swf-serves-smallest",
        "§3.2.1, Fig. 3b",
        "SWF greatly reduces the response time of small windows compared with LWO.",
    ),
    Claim(
        "shared-mqt-best-distributions",
        "§5.1, Fig. 5",
        "MQT has the lowest average response time under all four window distributions.",
    ),
    Claim(
        "shared-lwo-second",
        "§5.1, Fig. 5",
        "LWO comes second under every distribution except Mostly-Small.",
    ),
    Claim(
        "shared-swf-second-mostly-small",
        "§5.1, Fig. 5",
        "Under Mostly-Small SWF comes second, before LWO.",
    ),
    Claim(
        "shared-lwo-stable",
        "§5.1, Fig. 6",
        "LWO's response time is about the same for all windows, with a slight increase towards larger ones.",
    ),
    Claim(
        "shared-small-sooner",
        "§5.1, Fig. 6",
        "SWF and MQT answer smaller windows sooner than larger ones.",
    ),
    Claim(
        "shared-max-follows-mean",
        "§5.1, Fig. 6",
        "Maximum response times follow the trend of the averages; some are one or two orders of magnitude larger.",
        "10 to 100 times",
    ),
    Claim(
        "shared-uniform-alike",
        "§5.1, Fig. 6a",
        "Under Uniform, MQT and SWF perform alike for all but the largest window.",
    ),
    Claim(
        "shared-largest-sooner",
        "§5.1, Fig. 6",
        "MQT answers the largest window sooner than SWF, under Uniform and under Mostly-Small.",
    ),
    Claim(
        "shared-mostly-small-half",
        "§5.1, Fig. 6",
        "SWF's response time for the largest window is half as long under Mostly-Small as under Uniform.",
        "half",
    ),
    Claim(
        "shared-mqt-max-large",
        "§5.1, Fig. 6",
        "In maximum response time MQT is always better than SWF for large windows.",
    ),
    Claim(
        "shared-lwo-max-uniform",
        "§5.1, Fig. 6",
        "LWO's maximum response time is the same for all windows.",
    ),
    Claim(
        "shared-nested-loop",
        "§5.1",
        "With nested loops at 15 tuples/s the order of the schedules is as with hashing, at about ten times the response time.",
        "about 10 times",
    ),
    Claim(
        "shared-mqt-best-bursts",
        "§5.2, Fig. 7",
        "MQT has the lowest average response time at every burst size.",
    ),
    Claim(
        "shared-bursts-matter",
        "§5.2, Fig. 7",
        "The larger the bursts, the more the schedule matters: MQT's lead grows with the burst size.",
    ),
    Claim(
        "shared-burst-3-lwo",
        "§5.2, Fig. 7",
        "At burst size 3 MQT improves on LWO by up to 60 %.",
        "60 %",
    ),
    Claim(
        "shared-burst-3-swf",
        "§5.2, Fig. 7",
        "At burst size 3 MQT improves on SWF by up to 30 %.",
        "30 %",
    ),
    Claim(
        "shared-burst-5-largest",
        "§5.2, Fig. 8",
        "At burst size 5 SWF takes four times as long as MQT for the largest window.",
        "4 s against 1 s",
    ),
    Claim(
        "shared-mqt-best-crowds",
        "§5.3, Fig. 9",
        "MQT has the lowest average wherever 80 % of the queries have one window.",
    ),
    Claim(
        "shared-crowd-small",
        "§5.3, Fig. 9",
        "With the crowd on a small window SWF is better than LWO.",
    ),
    Claim(
        "shared-crowd-large",
        "§5.3, Fig. 9",
        "With the crowd on a large window LWO is better than SWF.",
    ),
    Claim(
        "shared-input-buffer",
        "§5.4",
        "The largest input buffer of SWF is below 10 % of the join buffer.",
        "less than 10 %",
    ),
    Claim(
        "shared-output-buffer",
        "§5.4",
        "The largest output buffer of SWF and of MQT is below 3 % of the join buffer.",
        "less than 3 %",
    ),
    Claim(
        "shared-memory-comparable",
        "§5.4",
        "SWF and MQT need about as much memory as LWO.",
    ),
)
