"""Ratings: Elo and sequential tests of a match, Bradley-Terry lists of many players."""
