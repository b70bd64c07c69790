"""Two searches of one position compared: what the settings in which they differ, and each rule that is on, changed."""
