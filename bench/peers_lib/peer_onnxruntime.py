"""ONNX Runtime with its CPU execution provider."""
from __future__ import annotations

import numpy as np
import onnxruntime as ort

from .task import Task


class OnnxRuntime:
    """A session with inputs and outputs bound once."""

    version = ort.__version__

    def __init__(self, task: Task) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = task.threads
        options.inter_op_num_threads = 1
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "1")
        # fp32: no bfloat16 in products, where the processor has them.
        options.add_session_config_entry("mlas.enable_gemm_fastmath_arm64_bfloat16", "0")
        self._session = ort.InferenceSession(
            task.model, options, providers=["CPUExecutionProvider"]
        )
        self._binding = self._session.io_binding()
        self._arrays = task.arrays()
        for name, array in self._arrays.items():
            self._binding.bind_cpu_input(name, array)
        for output in self._session.get_outputs():
            if not output.type.startswith("tensor("):
                raise NotImplementedError(f"output '{output.name}' is no tensor: {output.type}")
            self._binding.bind_output(output.name, "cpu")

    def run(self) -> None:
        self._session.run_with_iobinding(self._binding)

    def outputs(self) -> list[np.ndarray]:
        self.run()
        return self._binding.copy_outputs_to_cpu()


load = OnnxRuntime
