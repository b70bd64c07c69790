"""Named colours of figures, on light and on dark ground; distinguishable with any colour vision."""

LINE_COLOURS = ("blue", "orange", "green", "purple", "sky", "gold", "ink")
"""Colours of lines, in the order in which they are given out."""

LIGHT = {
    "page": "#fbfaf8",
    "card": "#ffffff",
    "ink": "#1d1d1b",
    "soft": "#65625c",
    "rule": "#dddad3",
    "win": "#7fb0de",
    "draw": "#dcd8ce",
    "loss": "#e79a78",
    "loss-ink": "#b3261e",
    "blue": "#1f6cb4",
    "orange": "#c9561a",
    "green": "#1a8a67",
    "purple": "#a8578c",
    "sky": "#4aa3d4",
    "gold": "#b98a10",
}

DARK = {
    "page": "#171716",
    "card": "#1f1f1d",
    "ink": "#edebe6",
    "soft": "#a9a69f",
    "rule": "#3a3936",
    "win": "#2f6396",
    "draw": "#55524b",
    "loss": "#9c5233",
    "loss-ink": "#ff8a75",
    "blue": "#6fb1f0",
    "orange": "#f0935c",
    "green": "#4cc49c",
    "purple": "#d98fc0",
    "sky": "#8fd0f5",
    "gold": "#dfb548",
}


def line_colour(number: int) -> str:
    """Colour of the line with this number, from 0; after the last the first comes again."""
    return LINE_COLOURS[number % len(LINE_COLOURS)]
