"""An engine without a GPU: vLLM's prefix cache and wire over a timing model, on real or on virtual time."""
