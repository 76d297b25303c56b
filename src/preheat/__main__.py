"""``python -m preheat`` is the ``preheat`` command."""

from preheat.cli.app import main

if __name__ == "__main__":
    main()
