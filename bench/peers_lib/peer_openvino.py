"""OpenVINO with its CPU plugin."""
from __future__ import annotations

import numpy as np
import openvino as ov

from .task import Task


class OpenVino:
    """One request with its inputs set once; the process is pinned, so the plugin does not pin."""

    version = ov.__version__.split("-")[0]

    def __init__(self, task: Task) -> None:
        core = ov.Core()
        wanted = {
            "INFERENCE_PRECISION_HINT": "f32" if task.precision == "int8" else task.precision,
            "INFERENCE_NUM_THREADS": task.threads,
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
        }
        self._compiled = core.compile_model(core.read_model(task.model), "CPU", wanted)
        self._request = self._compiled.create_infer_request()
        # Models from ONNX keep the order of the inputs.
        self._tensors = [ov.Tensor(array, shared_memory=True) for array in task.arrays().values()]
        for i, tensor in enumerate(self._tensors):
            self._request.set_input_tensor(i, tensor)

    def run(self) -> None:
        self._request.infer()

    def outputs(self) -> list[np.ndarray]:
        self.run()
        count = len(self._compiled.outputs)
        return [np.array(self._request.get_output_tensor(i).data) for i in range(count)]


load = OpenVino
