"""Former names of commands say the new way."""

import pytest

from ddr_cli.cli.app import MOVED


@pytest.mark.parametrize(("name", "instead"), MOVED.items())
def test_a_former_command_names_the_new_way(ddr_here, name, instead):
    for words in ((), ("some", "--option", "x"), ("--help",)):
        done = ddr_here(*name.split(), *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert instead in done.stderr
    assert f"│ {name.split()[-1]} " not in ddr_here(*name.split()[:-1], "--help").stdout
