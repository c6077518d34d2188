"""The built-in tiny models, the recipe that trains them, and an experiment with them."""
