"""mxnet"""

from __future__ import annotations

from gscli.declare import Framework

FRAMEWORK = Framework("mxnet", "mxnet")
