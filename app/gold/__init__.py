"""Gold versions, sealed to the workers' keys on upload; only `workers.gold` can open them."""
