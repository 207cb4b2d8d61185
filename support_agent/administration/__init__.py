"""What an administrator does with a tenant and its policies: each function is one unit of work on the database.

Each takes the application and the tenant's slug, and returns the value that `--json` prints.
"""
