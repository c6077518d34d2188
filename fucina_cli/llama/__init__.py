"""The only room that touches llama_cpp: model, vocabulary, context, exactness settings."""
