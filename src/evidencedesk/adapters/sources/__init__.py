"""Places from which documents come besides folders: web pages and maps of sites."""
