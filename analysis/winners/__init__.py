"""Who wins where: a sweep's variants, the contender that is best at each, and by how much."""
