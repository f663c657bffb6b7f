"""`python -m ddr_cli` is `ddr`."""

from ddr_cli.cli.app import main

if __name__ == "__main__":
    main()
