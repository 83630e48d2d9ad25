"""Free the slot of a message whose acknowledgement is lost with the broker connection.

kombu logs such a loss and continues, but counts the message as unacknowledged forever. A worker prefetches one message,
so it would wait forever without polling the connection, and never notice that it must reconnect.
"""

from __future__ import annotations

from kombu.transport import redis, virtual


class QoS(redis.QoS):
    """The unacknowledged messages of a channel."""

    def ack(self, delivery_tag: str) -> None:
        try:
            self._remove_from_indices(delivery_tag).execute()
        finally:
            virtual.QoS.ack(self, delivery_tag)


def free_places_of_lost_messages() -> None:
    """Install `QoS` for every Redis or Valkey connection of this process."""
    redis.Channel.QoS = QoS
