"""Plans of many episodes: played, resumed and reported."""
