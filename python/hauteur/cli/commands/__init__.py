"""The commands of `hauteur`, one module a group, one function a command; hauteur.cli.main names them."""
