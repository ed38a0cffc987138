"""The strategy `perpendicular`: readings are stored along rows of a grid and probe along columns."""
