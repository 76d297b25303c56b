"""Who leaves a full prefix cache: one policy a file, all of them in the table of :mod:`.policy`."""
