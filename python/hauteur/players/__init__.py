"""Players: settings as text, players with a net, baselines, programs that speak UCI or GTP."""
