"""Numbers as people read them."""


def short(value: float, digits: int) -> str:
    """`value` with `digits` significant digits, thousands apart; whole numbers are never shortened.

    A share just below 1 gets as many digits as keep it below 1: a recall of 0.9999 is not 1.
    """
    text = f"{value:.{digits}g}"
    # By what it is rounded to: 999.96 is 1,000, not 1e+03.
    if abs(float(text)) >= min(1_000, 10**digits):
        return f"{value:,.0f}"
    while abs(value) < 1 <= abs(float(text)):
        digits += 1
        text = f"{value:.{digits}g}"
    return text


def percent(share: float, digits: int = 3) -> str:
    """A share in %, with `digits` significant digits; one just below 1 is not 100 %."""
    text = f"{100 * share:.{digits}g}"
    while share < 1 and float(text) >= 100:
        digits += 1
        text = f"{100 * share:.{digits}g}"
    return f"{float(text):,g} %"
