"""The query language: grammar, syntax tree, parser and its errors."""
