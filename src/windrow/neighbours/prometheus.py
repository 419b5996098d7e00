"""A project's numbers as Prometheus reads them.

from windrow.neighbours.prometheus import text

print(text(project.metrics()))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from windrow.neighbours.missing import needing
from windrow.operations.metrics import METRICS, Metric, Sample

with needing("metrics"):
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
    from prometheus_client.metrics_core import Metric as Family
    from prometheus_client.registry import Collector


def text(samples: Iterable[Sample]) -> str:
    """Prometheus' text format; what labels hold is escaped."""
    registry = CollectorRegistry()
    registry.register(_Found(list(samples)))
    return generate_latest(registry).decode()


class _Found(Collector):
    """Numbers that were found once, in the form in which the library asks for them."""

    def __init__(self, samples: list[Sample]) -> None:
        self._samples = samples

    def collect(self) -> Iterator[Family]:
        for metric in METRICS:
            found = [it for it in self._samples if it.metric == metric]
            if found:
                yield _family(metric, found)


def _family(metric: Metric, samples: Iterable[Sample]) -> Family:
    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family: Family = kind(metric.name, metric.help)
    name = f"{metric.name}_total" if metric.kind == "counter" else metric.name
    for it in samples:
        family.add_sample(name, dict(it.labels), it.value)
    return family
