"""What a terminal, a slide and a page show of a trace. Nothing here knows a rule of its own."""
