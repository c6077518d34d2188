"""Files of requests and files of records."""
