"""The strategy `automatic`: follows the plan that its cost model takes to be the cheapest."""
