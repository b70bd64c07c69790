"""The browser lab: pages over the engine and the laboratory, served by `hauteur web`. It has no search of its own."""
