"""The radio models beside independent numbers."""
