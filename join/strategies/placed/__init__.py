"""The strategy `placed`: the place where readings of a value meet is chosen by what it costs."""
