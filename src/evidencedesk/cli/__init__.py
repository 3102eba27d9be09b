"""The command line: thin commands over :class:`evidencedesk.desk.Desk`.

``commands`` is the table of commands, ``app`` loads the one that was called and turns errors into
exit codes, ``call`` gives a command its settings, its reader and its desk, ``terminal`` prints.
"""
