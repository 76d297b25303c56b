"""Mining spread over a Ray cluster (extra ``preheat[ray]``): pieces of the log → profiles → one profile."""
