"""The sink's stream database: query language, planner, incremental operators and shared window joins."""
