"""The comparative sentences of SNJoin §6 (analysis), §7 (experiments) and §8 (Fig. 10), in our own words."""

from scenarios.reproduce.figure import Claim

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "snjoin-4-hash-insert",
        "§6, Fig. 4",
        "Hashing and inserting a tuple takes MJoin, SNJoin and SNJoin* a constant number of operations, whatever the number of streams.",
    ),
    Claim(
        "snjoin-4-choose",
        "§6, Fig. 4",
        "MJoin sorts the k - 1 other tables into a probing sequence for each tuple; SNJoin has nothing to choose.",
    ),
    Claim(
        "snjoin-4-probe",
        "§6, Fig. 4",
        "SNJoin probes one table for each tuple; MJoin probes between one table and all k - 1 others.",
    ),
    Claim(
        "snjoin-4-probe-formula",
        "§6, Fig. 4",
        "The expected number of tables that MJoin probes is the sum of the probabilities of getting so far.",
    ),
    Claim(
        "snjoin-4-form",
        "§6, Fig. 4",
        "MJoin forms partial results that are lost when its probing sequence ends early; SNJoin forms none but final results.",
    ),
    Claim(
        "snjoin-4-variable",
        "§6",
        "With variable arity MJoin has nothing to choose and probes all k - 1 tables; SNJoin still probes one.",
    ),
    Claim(
        "snjoin-4-star",
        "§6, Fig. 4",
        "SNJoin* costs a tuple what SNJoin costs in its own cluster plus what MJoin costs over the D clusters.",
    ),
    Claim(
        "snjoin-5-delay-mjoin",
        "§7.1, Fig. 5a",
        "Complete SNJoin has a shorter output delay than MJoin at 20 streams.",
        "up to 38 % less",
    ),
    Claim(
        "snjoin-5-delay-xjoin",
        "§7.1, Fig. 5a",
        "Complete SNJoin has a shorter output delay than the XJoin tree at 20 streams.",
        "up to 18 % less",
    ),
    Claim(
        "snjoin-5-processing",
        "§7.1, Fig. 5a",
        "Complete SNJoin spends the least time on an input tuple.",
    ),
    Claim(
        "snjoin-5-drops",
        "§7.1, Fig. 5b",
        "Complete SNJoin drops fewer input tuples than MJoin and the XJoin tree.",
    ),
    Claim(
        "snjoin-5-rate-xjoin",
        "§7.1, Fig. 5c",
        "Complete SNJoin has twice the output rate of the XJoin tree.",
        "double",
    ),
    Claim(
        "snjoin-5-rate-mjoin",
        "§7.1, Fig. 5c",
        "Complete SNJoin has a higher output rate than MJoin.",
        "up to 45 % more",
    ),
    Claim(
        "snjoin-5-fewer-results",
        "§7",
        "A complete join produces fewer results as the number of streams grows, or none.",
    ),
    Claim(
        "snjoin-spill-gain",
        "§7.1",
        "With memory for half of the window, disk support raises the output rate of complete SNJoin most at 2 streams.",
        "up to 58 % at 2 streams",
    ),
    Claim(
        "snjoin-spill-declines",
        "§7.1",
        "The more streams, the less disk support gains.",
    ),
    Claim(
        "snjoin-spill-unjustified",
        "§7.1",
        "With many streams there is hardly time to join what was spilled, and spilling does not pay.",
    ),
    Claim(
        "snjoin-6-delay",
        "§7.2, Fig. 6a",
        "Variable-arity SNJoin has a shorter output delay than MJoin and the XJoin tree.",
    ),
    Claim(
        "snjoin-6-drops",
        "§7.2, Fig. 6b",
        "Variable-arity SNJoin drops fewer input tuples than MJoin and the XJoin tree.",
    ),
    Claim(
        "snjoin-6-rate-xjoin",
        "§7.2, Fig. 6c",
        "Variable-arity SNJoin has a higher output rate than the binary tree at up to 2,000 sensors.",
        "up to 150 % more",
    ),
    Claim(
        "snjoin-6-rate-mjoin",
        "§7.2, Fig. 6c",
        "Variable-arity SNJoin has a higher output rate than MJoin at up to 2,000 sensors.",
        "up to 60 % more",
    ),
    Claim(
        "snjoin-6-more-than-complete",
        "§7.2",
        "SNJoin gains more over the others with variable arity than in the complete join.",
    ),
    Claim(
        "snjoin-6-probes",
        "§7.2",
        "Variable-arity SNJoin avoids the probes without a match that trees and MJoin make.",
    ),
    Claim(
        "snjoin-7-xjoin",
        "§7.2, Fig. 7",
        "Adding or removing 1 to 100 sensors a minute lowers the output rate of the XJoin tree.",
        "by up to 50 %",
    ),
    Claim(
        "snjoin-7-mjoin",
        "§7.2, Fig. 7",
        "The same churn lowers the output rate of MJoin, less than the tree's.",
        "by up to 25 %",
    ),
    Claim(
        "snjoin-7-snjoin",
        "§7.2, Fig. 7",
        "The same churn hardly lowers the output rate of SNJoin.",
        "by 4 % at 2,000 sensors",
    ),
    Claim(
        "snjoin-8-feedback",
        "§7.3, Fig. 8",
        "Relevance feedback raises the output rate of SNJoin* at 2,000 sensors.",
        "by up to 90 %",
    ),
    Claim(
        "snjoin-8-mjoin",
        "§7.3, Fig. 8",
        "SNJoin* with feedback has a higher output rate than distributed MJoin.",
    ),
    Claim(
        "snjoin-8-communication",
        "§7.3",
        "Without feedback SNJoin* communicates as much as distributed MJoin: all heads are probed anyway.",
    ),
    Claim(
        "snjoin-9-probes",
        "§7.3, Fig. 9",
        "Feedback reduces the number of probed heads.",
        "79.4 % at 2,000 sensors",
    ),
    Claim(
        "snjoin-9-delay",
        "§7.3, Fig. 9",
        "Feedback reduces the output delay.",
        "70.1 % at 2,000 sensors",
    ),
    Claim(
        "snjoin-9-drops",
        "§7.3, Fig. 9",
        "Feedback reduces the input drop rate.",
        "52.3 % at 2,000 sensors",
    ),
    Claim(
        "snjoin-9-width",
        "§7.3, Fig. 9",
        "Feedback narrows the result tuples by at most 12 %.",
        "11.5 % at 2,000 sensors",
    ),
    Claim(
        "snjoin-9-communication",
        "§7.3, Fig. 9",
        "Feedback reduces the communication cost, though it adds a message to each tuple.",
        "75.5 % at 2,000 sensors",
    ),
    Claim(
        "snjoin-9-correlation",
        "§7.3, Fig. 9",
        "The reductions in probes and in communication cost go together.",
    ),
    Claim(
        "snjoin-9-growth",
        "§7.3, Fig. 9",
        "The reductions grow with the number of sensors, from nothing at 200.",
        "0 % at 200, 79.4 % at 2,000",
    ),
    Claim(
        "snjoin-10-scalability",
        "§8, Fig. 10",
        "The work for a tuple grows with the number of streams in trees and in MJoin, and not in SNJoin.",
    ),
    Claim(
        "snjoin-10-dynamic",
        "§8, Fig. 10",
        "Streams can be added and removed: a tree must be reorganised, MJoin changes its probing sequences, SNJoin changes nothing.",
    ),
    Claim(
        "snjoin-10-symmetric",
        "§8, Fig. 10",
        "MJoin and SNJoin treat all streams alike; in a tree the work for a tuple depends on the place of its stream.",
    ),
    Claim(
        "snjoin-10-delay",
        "§8, Fig. 10",
        "The delay of a tree grows with its levels; MJoin and SNJoin answer in one step.",
    ),
    Claim(
        "snjoin-10-rates",
        "§8, Fig. 10",
        "The work of a tree depends on which stream is fast; that of MJoin and SNJoin does not.",
    ),
    Claim(
        "snjoin-10-reorganisation",
        "§8, Fig. 10",
        "Trees gain from a reorganisation of the plan; MJoin and SNJoin have no plan to reorganise.",
    ),
    Claim(
        "snjoin-10-overflow",
        "§8, Fig. 10",
        "XJoin trees, MJoin and SNJoin survive memory overflow by spilling and lose no result; symmetric-hash trees do not.",
    ),
    Claim(
        "snjoin-10-flushing",
        "§8, Fig. 10",
        "MJoin and SNJoin flush equal values of all streams together.",
    ),
    Claim(
        "snjoin-10-variable",
        "§8, Fig. 10",
        "All can be adapted to variable arity, but only SNJoin does less work for it than for an outer join.",
    ),
)
