"""Every net that ships has a card, and the pages are what the tool writes."""

from pathlib import Path

import pytest

import model_cards
from hauteur.networks.names import shipped_names
from hauteur.networks.strength import ShippedNet, shipped_nets, strength_of

pytestmark = pytest.mark.quick


def test_every_net_that_ships_has_a_card() -> None:
    assert sorted(shipped_nets()) == shipped_names()


@pytest.mark.parametrize("name", shipped_names())
def test_a_card_says_all_that_it_should(name: str) -> None:
    net: ShippedNet = shipped_nets()[name]
    assert net.strength
    texts = [net.made, net.data, net.minutes, net.measured, net.use, net.not_for, net.licence]
    texts += [text for one in net.strength for text in (one.judge, one.terms, one.result)]
    assert all(text and "|" not in text and "\n" not in text for text in texts)
    assert "GPL-3.0" in net.licence


@pytest.mark.parametrize("path", model_cards.written(), ids=lambda path: path.name)
def test_what_is_checked_in_is_what_the_tool_writes(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == model_cards.written()[path], "run make schema"


def test_opinions_are_of_the_shipped_file() -> None:
    assert "maia-1100" in strength_of("chess")
    assert strength_of("elsewhere/chess.safetensors") == "a net of unknown strength"
    assert strength_of("hex7") == "a net of unknown strength"
