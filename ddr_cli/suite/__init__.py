"""Many data sets and methods under one protocol: runs, leaderboard, pages."""
