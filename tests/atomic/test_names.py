"""The one rule by which fields of schemas become columns."""

import pytest

from windrow.atomic.names import camel_case, snake_case


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", "hello"),
        ("hello_world", "hello_world"),
        ("helloWorld", "hello_world"),
        ("HelloWorld", "hello_world"),
        ("helloWorldEarth", "hello_world_earth"),
        ("helloWORLDEarth", "hello_world_earth"),
        ("helloWorldEARTH", "hello_world_earth"),
        ("helloWorld-Earth", "hello_world_earth"),
        ("helloWorld23Earth", "hello_world23_earth"),
        ("iECompatibilityVersion", "i_e_compatibility_version"),
        ("gSAInstallationID", "g_sa_installation_id"),
        ("facebookFBOP", "facebook_fbop"),
        ("userID", "user_id"),
    ],
)
def test_fields_become_snake_case(text: str, expected: str) -> None:
    assert snake_case(text) == expected


def test_names_come_back_from_the_trackers_spelling() -> None:
    assert camel_case("layout_engine_name") == "layoutEngineName"
    assert snake_case(camel_case("layout_engine_name")) == "layout_engine_name"
