"""The shared decode core: one step function over streams, and what a stream is."""
