"""Plans that are played, resumed and reported."""
