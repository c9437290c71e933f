"""Arrays in chunks: Zarr and Icechunk, their folders, grids and codecs."""
