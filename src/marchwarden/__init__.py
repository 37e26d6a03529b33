"""Marchwarden: research agents whose every claim leads to a verbatim excerpt."""
