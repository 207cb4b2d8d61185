"""The command line: one module a noun. Results go to standard output, talk to standard error."""
