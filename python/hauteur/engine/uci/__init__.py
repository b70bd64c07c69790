"""The chess engine for UCI programs: `hauteur uci`."""
