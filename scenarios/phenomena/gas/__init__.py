"""The gas cloud: wind, puffs, barriers, sensors."""
