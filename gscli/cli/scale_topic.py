"""`gscli help zarr`: stores of chunks, clusters, versions. Light."""

ZARR = """\
A tensor that outgrows .npy lies in a Zarr store: a folder of chunks, of version 2 or 3, with any
codec, with shards. A .zip of one is read too. It needs pip install 'gscli[zarr]'.

  table.zarr            the array of a store, or its only one
  store.zarr::g/table   one array of a group; gscli show store.zarr lists them
  gscli convert table.npy table.zarr --chunks 4096x64

-o out.zarr streams: data may be larger than memory. All indices are judged before anything is
made. Each touched chunk is read once, changed and written once; the others are copied as they
are stored. out.zarr appears whole or not at all: it grows as out.zarr.gscli-xxxxxxxx beside it,
and what a killed run left of that the next one removes.

  gscli scatter-nd table.zarr idx.npy upd.npy -o new.zarr --reduction add
  gscli gather table.zarr ids.npy -o rows.zarr

--engine dask does the same by workers of this machine, --engine dask=tcp://HOST:8786 by those of a
cluster that sees the files under the same names (pip install 'gscli[dask]'). The bits are those of
one process. On one machine it is slower unless the codec is heavy.

Python's gscli.run takes arrays of the zarr and dask packages as data: a gather reads the chunks
that it needs. With out='new.zarr' (or .npy) the result is written as by -o, whole or not at all.

  gscli.run("gather", {"data": zarr.open_array("table.zarr"), "indices": ids})

An Icechunk repository (pip install 'gscli[icechunk]') is a store with versions: a folder, or
s3://BUCKET/PREFIX.icechunk with access from the environment. --in-place writes one commit there:
readers see the old version or the new one, and a commit of somebody else in between is told of.

  gscli scatter-nd table.icechunk idx.npy upd.npy --in-place -m 'night run' --reduction add
  gscli show table.icechunk                 its arrays and its newest snapshots
  gscli gather table.icechunk@SNAPSHOT '[3]'   an older version; also @TAG and @BRANCH
"""
