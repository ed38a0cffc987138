"""Motes, batteries, radio, links and delivery."""
