"""Plan → WarmRun: leaders first, bounded concurrency, retries, resume, and verification by the engine's own word."""
