"""Medium access: ideal, duty-cycled, TDMA and CSMA."""
