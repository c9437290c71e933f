"""The file formats gscli reads and writes, one module each; `gscli.files` is the way in.

Readers take a `Content` (bytes at any place, checked to be a regular file or a pipe) and give an
array; they allocate nothing whose size they have not compared with the bytes present and the
limit. Nothing here executes anything from a file.
"""
