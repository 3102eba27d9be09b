"""Files and folders to documents: discover, read, sniff, parse in a child process, add metadata."""
