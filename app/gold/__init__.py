"""Gold versions, sealed for the workers on upload; only `workers.gold` can open them."""
