"""Places: where visitors are, with the language and time zone that go with it."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import Column

from windrow.demo.draws import draw, nth, weighted_index


class Place(NamedTuple):
    """A city, and how many of a hundred visitors live there."""

    weight: int
    country: str
    region: str
    region_name: str
    city: str
    zipcode: str
    latitude: float
    longitude: float
    timezone: str
    language: str


PLACES = (
    Place(18, "GB", "ENG", "England", "London", "EC1A", 51.51, -0.13, "Europe/London", "en-GB"),
    Place(6, "GB", "SCT", "Scotland", "Edinburgh", "EH1", 55.95, -3.19, "Europe/London", "en-GB"),
    Place(13, "DE", "BE", "Land Berlin", "Berlin", "10115", 52.52, 13.4, "Europe/Berlin", "de-DE"),
    Place(10, "FR", "IDF", "Île-de-France", "Paris", "75001", 48.86, 2.35, "Europe/Paris", "fr-FR"),
    Place(8, "NL", "NH", "North Holland", "Haarlem", "2011", 52.38, 4.64, "Europe/Amsterdam", "nl"),
    Place(7, "ES", "MD", "Madrid", "Madrid", "28001", 40.42, -3.7, "Europe/Madrid", "es-ES"),
    Place(5, "SE", "M", "Skåne", "Malmö", "211 20", 55.6, 13.0, "Europe/Stockholm", "sv-SE"),
    Place(
        11, "US", "NY", "New York", "Albany", "12201", 42.65, -73.75, "America/New_York", "en-US"
    ),
    Place(5, "US", "IL", "Illinois", "Chicago", "60601", 41.88, -87.63, "America/Chicago", "en-US"),
    Place(8, "BR", "SP", "São Paulo", "Santos", "11010", -23.96, -46.33, "America/Sao_Paulo", "pt"),
    Place(4, "IN", "KA", "Karnataka", "Bengaluru", "560001", 12.97, 77.59, "Asia/Kolkata", "en-IN"),
    Place(3, "JP", "13", "Tokyo", "Tokyo", "100-0001", 35.68, 139.69, "Asia/Tokyo", "ja"),
    Place(2, "AU", "VIC", "Victoria", "Geelong", "3220", -38.15, 144.36, "Australia/Sydney", "en"),
)


def place_of(visitor_key: Column) -> Column:
    """The index of the visitor's place."""
    return weighted_index([place.weight for place in PLACES], draw("place", visitor_key))


def place_columns(place: Column) -> dict[str, Column]:
    """The event columns that follow from the place's index."""
    timezone = nth([p.timezone for p in PLACES], place)
    return {
        "geo_country": nth([p.country for p in PLACES], place),
        "geo_region": nth([p.region for p in PLACES], place),
        "geo_region_name": nth([p.region_name for p in PLACES], place),
        "geo_city": nth([p.city for p in PLACES], place),
        "geo_zipcode": nth([p.zipcode for p in PLACES], place),
        "geo_latitude": nth([p.latitude for p in PLACES], place, "double"),
        "geo_longitude": nth([p.longitude for p in PLACES], place, "double"),
        "geo_timezone": timezone,
        "os_timezone": timezone,
        "br_lang": nth([p.language for p in PLACES], place),
    }
