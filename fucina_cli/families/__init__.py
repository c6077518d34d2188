"""What differs between model families: architectures, prompt format, markers, sampling defaults."""
