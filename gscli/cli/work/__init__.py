"""What the commands do: load, run, show or save. Imported when a command runs, never for help."""
