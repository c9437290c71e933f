"""Asking real runtimes: each runs in a process of its own and is judged by gscli's rules."""
