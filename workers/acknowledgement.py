"""A message whose acknowledgement is lost with the broker's connection leaves its place to the next one.

kombu logs such a loss and goes on, but counts the message as taken for ever. A worker takes one at a time, so it would
wait without end, and without listening to the connection, which it would otherwise find broken and make again.
"""

from __future__ import annotations

from kombu.transport import redis, virtual


class QoS(redis.QoS):
    """What a channel has taken and not acknowledged."""

    def ack(self, delivery_tag: str) -> None:
        try:
            self._remove_from_indices(delivery_tag).execute()
        finally:
            virtual.QoS.ack(self, delivery_tag)


def free_places_of_lost_messages() -> None:
    """For every connection of this process to Redis or Valkey."""
    redis.Channel.QoS = QoS
