"""Numbers as people read them."""


def short(value: float, digits: int) -> str:
    """`value` with `digits` significant digits, thousands apart; whole numbers are never shortened.

    A share just below 1 gets as many digits as keep it below 1: a recall of 0.9999 is not 1.
    """
    text = f"{value:.{digits}g}"
    # By what it is rounded to: 9,999.6 is 10,000, not 1e+04.
    if abs(float(text)) >= min(10_000, 10**digits):
        return f"{value:,.0f}"
    while abs(value) < 1 <= abs(float(text)):
        digits += 1
        text = f"{value:.{digits}g}"
    return text
