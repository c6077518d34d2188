"""Sources of drafts and their gate. Drafts never decide what is committed."""
