"""The seam for whatever guesses the next tokens. Guesses never decide what is committed."""
