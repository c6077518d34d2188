"""The recipe of the tiny models: vocabulary, network, training, GGUF.

It needs torch and tokenizers, the extra `train`; nothing of it is imported when a model runs.
"""
