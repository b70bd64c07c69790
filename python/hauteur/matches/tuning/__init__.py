"""Settings of players found by games: for strength (`strength`), or for a wanted share of draws (`ratio`).

`parameters` says what a setting is and within which bounds, `spsa` how to climb where everything is noisy, `folder`
where a tuning lies on disk. The search for a share of draws itself is `hauteur.matches.tuning.ratio_fit`.
"""
