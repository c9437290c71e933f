"""caffe2"""

from __future__ import annotations

from gscli.declare import Framework

FRAMEWORK = Framework("caffe2", "caffe2")
