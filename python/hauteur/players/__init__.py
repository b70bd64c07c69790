"""Players: settings as text, players with a net, baselines, the solver, programs that speak UCI or GTP."""
