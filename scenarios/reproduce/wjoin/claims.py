"""The comparative sentences of W-join §4.3 and §5.3 (experiments), in our own words."""

from scenarios.reproduce.figure import Claim

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "wjoin-7-nlw-ripple",
        "§4.3, Fig. 7",
        "NLW-join serves a tuple faster than a ripple join that is cleaned every 10,000 tuples, for 2, 3 and 4 streams.",
    ),
    Claim(
        "wjoin-7-mw-best",
        "§4.3, Fig. 7",
        "MW-join is the fastest of MW-join, NLW-join and the ripple join.",
    ),
    Claim(
        "wjoin-7-mw-order",
        "§4.3, Fig. 7",
        "MW-join is almost ten times as fast as NLW-join.",
        "almost 10 times",
    ),
    Claim(
        "wjoin-7-mw-comparisons",
        "§4.3",
        "MW-join makes fewer comparisons because it does not iterate over tuples outside the window.",
    ),
    Claim(
        "wjoin-7-hours",
        "§4.3, Fig. 7, 8",
        "Service times of two-way joins rise and fall steeply where the stores open and close.",
    ),
    Claim(
        "wjoin-8-hw-xjoin",
        "§4.3, Fig. 8",
        "HW-join serves a tuple faster than an XJoin that is cleaned every 10,000 tuples, for 2, 3 and 4 streams.",
    ),
    Claim(
        "wjoin-78-no-build-up",
        "§4.3, Fig. 7, 8",
        "Service times of NLW-join, MW-join and HW-join do not build up as more tuples are processed, those of ripple join and XJoin do between clean-ups.",
    ),
    Claim(
        "wjoin-9a-order",
        "§4.3, Fig. 9a",
        "With different rates (100 to 1,000 tuples/s) MW-join is more than ten times as fast as NLW-join.",
        "more than 10 times",
    ),
    Claim(
        "wjoin-9a-maintained",
        "§4.3, Fig. 9a",
        "That lead stays as the number of streams grows from 2 to 6.",
    ),
    Claim(
        "wjoin-9b-converge",
        "§4.3, Fig. 9b",
        "With comparable rates the service times of NLW-join and MW-join approach each other as streams are added.",
    ),
    Claim(
        "wjoin-9b-mode-2",
        "§4.3",
        "They do so because MW-join compares more and more tuples in mode 2.",
    ),
    Claim(
        "wjoin-9-hw",
        "§4.3, Fig. 9a, 9b",
        "HW-join is the fastest and scales best with the number of streams.",
    ),
    Claim(
        "wjoin-9c-mw",
        "§4.3, Fig. 9c",
        "MW-join becomes much faster while one of four streams is slow.",
    ),
    Claim(
        "wjoin-9c-mode-1",
        "§4.3, Fig. 9c",
        "With a slow stream MW-join is in mode 1 most of the time.",
    ),
    Claim(
        "wjoin-9c-others",
        "§4.3, Fig. 9c",
        "NLW-join and HW-join do not change significantly when one stream is slow.",
    ),
    Claim(
        "wjoin-13-small",
        "§5.3, Fig. 13",
        "LCA is faster than GCA with windows of 0.8 s and one of 1 s.",
    ),
    Claim(
        "wjoin-13-large",
        "§5.3, Fig. 13",
        "LCA is faster than GCA with windows of 0.1 s and one of 1 s.",
    ),
    Claim(
        "wjoin-14-small",
        "§5.3, Fig. 14",
        "On a path of four streams with little difference in rates NLW-join is faster than LCA.",
    ),
    Claim(
        "wjoin-14-large",
        "§5.3, Fig. 14",
        "On a path of four streams with large differences in rates LCA is faster than NLW-join.",
    ),
)
