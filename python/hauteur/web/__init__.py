"""The browser lab: pages over engine and laboratory, served by `hauteur web`. No search and no formula is here."""
