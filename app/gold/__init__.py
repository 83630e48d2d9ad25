"""Gold's versions, sealed for the workers as they arrive; opening them is `workers.gold`'s, and nobody else's."""
