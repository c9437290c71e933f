"""Dask's workers in place of one process: the same plans and kernel, one owner for each chunk.

    judge    each task looks at some entries; nothing is made before all were found legal
    deal     each task resolves some entries and deals them out to the owners of their chunks
    own      each owner takes its shares in entry order, reads its chunks once, writes them once
    rename   the client puts the finished folder in place

A task can be run again: it replaces whole files by the same bytes. What it needs comes with it, so
that another worker takes over from one that died.
"""
