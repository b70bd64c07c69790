"""The form of search settings has every setting, and what it gives is read as commands read it."""

import pytest

from hauteur.mcts.params import SearchParams
from hauteur.players.settings import parse_player
from hauteur.web.search_form import chosen_search, search_form


def test_every_setting_is_in_the_form_with_its_default() -> None:
    keys = {setting["key"]: setting for group in search_form() for setting in group["settings"]}
    for key, setting in keys.items():
        assert chosen_search({key: setting["default"]}) is not None, key
        assert (setting["kind"] in ("choice", "switch")) == bool(setting["choices"])
        assert setting["kind"] not in ("whole", "number") or setting["least"] is not None
    assert {key.partition(".")[0] for key in keys} == set(SearchParams.model_fields)
    assert keys["search_contempt.n_scl"]["most"] == 10**9
    assert keys["search_contempt.n_scl"]["text"].startswith("Visits of its children at which an opponent node freezes")
    optional = [group["name"] for group in search_form() if group["optional"]]
    assert all(getattr(chosen_search({name: "on"}), name) is not None for name in optional if name != "second_net")


def test_groups_and_settings_have_names_for_people() -> None:
    labels = {group["name"]: group["label"] for group in search_form()}
    assert labels["search_contempt"] == "Search-contempt"
    assert labels["root_cpuct"] == "root cpuct: Exploration of PUCT"
    assert len(set(labels.values())) == len(labels)
    words = {setting["key"]: setting["words"] for group in search_form() for setting in group["settings"]}
    assert words["solver.draw_preference"] == "draw preference"
    assert not any("." in word or "_" in word for word in words.values())


def test_what_a_form_gives_is_read_as_words_are() -> None:
    given = {"search_contempt.n_scl": "5", "search_contempt.ratio_schedule": "9:0.5 20:1", "solver": "on"}
    words = " ".join(f"'{key}={value}'" for key, value in given.items())
    assert chosen_search(given) == parse_player(words).search
    with pytest.raises(ValueError, match=r"side A: cpuct\.init: Input should be less than or equal to 100, got '101'"):
        chosen_search({"cpuct.init": "101"}, "side A")
    with pytest.raises(ValueError, match="settings: magic is not a setting"):
        chosen_search({"magic": "1"})
