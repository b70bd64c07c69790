"""Programs that play: engines that speak UCI or GTP, as players."""
