"""GBNF, the grammar notation of llama.cpp: read, translated for the grammar engine, matched."""
