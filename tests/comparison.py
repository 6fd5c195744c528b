#!/usr/bin/env python3
"""Tests what bench/peers makes of measurements: no peer is needed, nor any Python library. Models of
ncnn on integers are tested where there is numpy, and run where there is ncnn.

Usage: tests/comparison.py [TEST...]
"""
import contextlib
import importlib.util
import io
import json
import sys
import tempfile
import types
import unittest
import xml.dom.minidom
from pathlib import Path
from unittest import mock

if sys.version_info < (3, 10):
    print("skipped: bench/peers needs Python 3.10")
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench"))

from peers_lib import choice, driver, networks, page, resume  # noqa: E402
from peers_lib.chart import chart  # noqa: E402
from peers_lib.report import Origin, Report  # noqa: E402
from peers_lib.results import Result, best, geometric_mean, quantile, speed  # noqa: E402
from peers_lib.worker import PEERS  # noqa: E402

MACHINE = {"processor": "Abacus", "architecture": "wood", "cores": 2, "memory_gib": 1.5,
           "system": "Linux 1.0", "date": "2026-11-15T12:00:00+00:00",
           "limits": {"peak_gflops": 40.0,
                      "bandwidths": [{"level": "L1", "bytes": 32768, "gb_s": 63.5}]}}


def timed(peer, milliseconds, **more):
    return Result(peer, version="1.0", runs=9, median=milliseconds / 1e3, spread=0.01, **more)


def results(**milliseconds):
    return {peer: timed(peer, value) for peer, value in milliseconds.items()}


def report(runs, machine=MACHINE, seconds=5.0):
    made = Report(machine, {"version": "0.1"}, list(PEERS))
    for (threads, model), found in runs.items():
        made.add(threads, model, found, Origin("2026-11-15T12:00:00", "0.1 (abc)", seconds))
    return made


def example():
    return report({
        (1, "resnet34"): results(lathe=100, onnxruntime=200, ncnn=50),
        (1, "resnet34-cifar"): results(lathe=20, onnxruntime=50, ncnn=80),
        (1, "resnet34-cifar/g4"): results(lathe=10, onnxruntime=40, ncnn=20),
        (2, "resnet34"): results(lathe=60, onnxruntime=120, ncnn=30),
    })


def quietly(action):
    """What the action returns, and what it prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        return action(), said.getvalue()


class Choice(unittest.TestCase):
    def test_best_leaves_tvm_out_and_all_does_not(self):
        self.assertEqual(choice.expand(["best"]), ["onnxruntime", "openvino", "ncnn", "torch"])
        self.assertEqual(choice.expand(["all"]), choice.OTHERS)
        self.assertEqual(choice.expand(["tvm", "best"]), choice.OTHERS)
        self.assertEqual(choice.expand(["abacus", "ncnn"]), ["ncnn", "abacus"])

    def test_the_installed_are_told_from_the_others(self):
        self.assertEqual(choice.share_out(["ncnn", "torch"], lambda p: p == "torch"),
                         (["torch"], ["ncnn"]))

    def test_the_best_is_the_fastest_that_ran_right(self):
        found = results(lathe=1, onnxruntime=30, ncnn=20)
        found["torch"] = timed("torch", 10, status="wrong")
        found["openvino"] = Result("openvino", "failed", "no such operator")
        self.assertEqual(best(found), "ncnn")
        self.assertEqual(best(found | results(tvm=15)), "tvm")
        self.assertIsNone(best(results(lathe=1)))


class Figures(unittest.TestCase):
    def test_speed(self):
        found = results(lathe=20, ncnn=50)
        self.assertAlmostEqual(speed(found, "lathe", "ncnn"), 2.5)
        self.assertIsNone(speed(found, "lathe", "torch"))
        self.assertIsNone(speed(found, "lathe", None))

    def test_geometric_mean_of_what_is_there(self):
        self.assertAlmostEqual(geometric_mean([0.5, None, 8]), 2.0)
        self.assertIsNone(geometric_mean([None]))

    def test_quantiles_lie_between_neighbours(self):
        self.assertEqual(quantile([4, 1, 3, 2], 0.5), 2.5)
        self.assertEqual(quantile([7], 0.9), 7)

    def test_figures_of_runs(self):
        result = Result("ncnn")
        result.time([1.0, 2.0, 3.0, 4.0, 5.0])
        self.assertEqual((result.runs, result.median, result.p10), (5, 3.0, 1.4))
        self.assertAlmostEqual(result.spread, 2 / 3)

    def test_means_are_against_the_best_and_without_networks_in_groups(self):
        # 50 / 100 and 50 / 20
        self.assertAlmostEqual(example().mean(1, "lathe", None), (0.5 * 2.5) ** 0.5)

    def test_a_network_in_groups_is_compared_with_the_original(self):
        self.assertAlmostEqual(example().over_original(1, "resnet34-cifar/g4"), 5.0)
        self.assertIsNone(example().over_original(1, "resnet34"))

    def test_layers_in_groups_count_where_there_is_no_original(self):
        made = report({(1, "conv/g4"): results(lathe=1, ncnn=3)})
        self.assertAlmostEqual(made.mean(1, "lathe", None), 3.0)


class Tuned(unittest.TestCase):
    def tuned(self):
        return report({
            (1, "resnet34"): results(lathe=100, lathe_tuned=80, onnxruntime=200, ncnn=50),
            (1, "resnet34-cifar"): results(lathe=20, lathe_tuned=10, onnxruntime=50, ncnn=40),
            (1, "resnet34-cifar/g4"): results(lathe=8, lathe_tuned=4, onnxruntime=50, ncnn=12),
        })

    def test_tuned_is_lathe_and_no_peer(self):
        made = self.tuned()
        self.assertEqual(best(made.runs[1]["resnet34-cifar"]), "ncnn")
        self.assertAlmostEqual(made.mean(1, "lathe_tuned", None), (50 / 80 * 40 / 10) ** 0.5)
        self.assertAlmostEqual(made.over_original(1, "resnet34-cifar/g4"), 10.0)
        self.assertNotIn("lathe_tuned", made.versions())

    def test_the_page_has_both(self):
        text = page.tables(self.tuned())
        self.assertIn("| ResNet-34 | 100 | 80.0 | 200 | **50.0** | 0.50 | 0.62 |", text)
        self.assertIn("Networks were tuned first.", page.head(self.tuned()).replace("\n", " "))
        self.assertIn("Lathe, tuned", chart(self.tuned()))

    def test_the_table_compares_the_tuned_network(self):
        lines = self.tuned().table(1)
        self.assertTrue(all(len(line) <= 80 for line in lines))
        self.assertEqual(lines[2].split()[-2:], ["2.50", "0.62"])


class Networks(unittest.TestCase):
    def test_names(self):
        self.assertEqual(networks.parse("resnet34-cifar/g4"), ("resnet34-cifar", 4))
        self.assertEqual(networks.parse("some/gold.onnx"), ("some/gold.onnx", 1))
        self.assertIsNone(networks.original("resnet34"))
        self.assertEqual(networks.in_order(["b", "vgg16", "a", "resnet34"]),
                         ["resnet34", "vgg16", "b", "a"])

    def test_only_3x3_convolutions_that_divide_are_grouped(self):
        def layer(name, weight, op="conv", **attributes):
            return {"name": name, "op": op, "attributes": attributes,
                    "inputs": [{"kind": "computed", "type": "f32[1x64x3x3]"},
                               {"kind": "weight", "type": f"f32[{weight}]"}]}

        layers = [layer("stem", "64x3x3x3"), layer("dense", "64x64x3x3"),
                  layer("pointwise", "64x64x1x1"), layer("fc", "64x64", "fully_connected"),
                  layer("grouped", "64x16x3x3", groups="4")]
        self.assertEqual(networks.layers_to_group(layers, 4), ["dense"])


class Tables(unittest.TestCase):
    def test_the_best_is_marked(self):
        lines = example().table(1)
        self.assertEqual(lines[1].split(),
                         ["network", "lathe", "onnxrt", "ncnn", "vs", "ort", "vs", "best"])
        self.assertEqual(lines[2].split(), ["resnet34", "100.0", "200.0", "50.00*", "2.00", "0.50"])
        self.assertEqual(lines[6].split()[-1], "1.12")
        self.assertIn("resnet34-cifar/g4: 5.00 times as fast as the best peer runs", "".join(lines))
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_what_failed_is_named_with_its_reason(self):
        found = results(lathe=1, ncnn=2)
        found["torch"] = Result("torch", "failed", "no such operator")
        found["openvino"] = Result("openvino", "not installed")
        text = "\n".join(report({(1, "resnet34"): found}).table(1))
        self.assertIn("torch (resnet34): failed: no such operator", text)
        self.assertIn("openvino: not installed", text)

    def test_lathe_alone(self):
        lines = report({(1, "resnet34"): results(lathe=100)}).table(1)
        self.assertEqual(lines[1].split(), ["network", "lathe"])
        self.assertNotIn("ort", "".join(lines))


class Resuming(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "new" / "networks.json"

    def test_what_is_saved_is_loaded(self):
        resume.save(example(), self.file)
        self.assertEqual(resume.load(self.file, list(PEERS)).as_json(), example().as_json())
        self.assertEqual([f.name for f in self.file.parent.iterdir()], ["networks.json"])

    def test_what_is_finished(self):
        made = example()
        peers = ["lathe", "onnxruntime", "ncnn"]
        self.assertTrue(resume.is_finished(made, 1, "resnet34", peers, 5))
        self.assertTrue(resume.is_finished(made, 1, "resnet34", ["lathe"], 1))
        self.assertFalse(resume.is_finished(made, 1, "resnet34", peers, 6))
        self.assertFalse(resume.is_finished(made, 1, "resnet34", [*peers, "torch"], 5))
        self.assertFalse(resume.is_finished(made, 2, "vgg16", peers, 5))
        made.runs[1]["resnet34"]["ncnn"].status = "failed"
        self.assertTrue(resume.is_finished(made, 1, "resnet34", peers, 5))
        made.runs[1]["resnet34"]["ncnn"].status = "not installed"
        self.assertFalse(resume.is_finished(made, 1, "resnet34", peers, 5))
        made.runs[1]["resnet34-cifar"]["lathe"].status = "failed"
        self.assertFalse(resume.is_finished(made, 1, "resnet34-cifar", peers, 5))

    def test_other_machines_and_other_files_are_refused(self):
        other = report({}, MACHINE | {"processor": "Pascaline"})
        with self.assertRaisesRegex(resume.NotResumable, "another machine, 'Abacus'"):
            resume.adopt(other, example())
        for text in ("", "[]", '{"machine": {}}'):
            (self.folder / "bad.json").write_text(text)
            with self.assertRaisesRegex(resume.NotResumable, "not what bench/peers wrote"):
                resume.load(self.folder / "bad.json", list(PEERS))

    def fake_lathe(self):
        """A program that notes the networks it measures, and stops its caller at the third."""
        program = self.folder / "lathe"
        program.write_text(f"""#!/bin/sh
[ "$1 $2" != "bench --machine" ] || {{ echo '{{"peak_gflops": 1}}'; exit; }}
[ "$1" = bench ] || exit 0
echo "$2" >> {self.folder}/measured
[ "$(wc -l < {self.folder}/measured)" != 3 ] || {{ kill $PPID; sleep 5; }}
echo '{{"runs": 9, "median_ms": 4.0, "p90_ms": 5.0}}'
""")
        program.chmod(0o755)
        return program

    def run_driver(self, *arguments, installed=()):
        with mock.patch.object(choice, "is_installed", lambda module: module in installed):
            return quietly(lambda: driver.main([*arguments, "--json", str(self.file)]))

    def test_what_was_finished_is_not_measured_again(self):
        names = ["resnet34", "vgg16", "resnet50", "densenet161"]
        command = [*names, "--lathe", str(self.fake_lathe()), "--threads", "1"]
        status, said = self.run_driver(*command)
        self.assertEqual(status, 130)
        self.assertIn("interrupted", said)
        self.assertIn("scripts/setup-bench", said)
        kept = [entry["model"] for entry in json.loads(self.file.read_text())["results"]]
        self.assertEqual(kept, ["resnet34", "vgg16"])
        status, said = self.run_driver(*command, "--resume")
        self.assertEqual(status, 0)
        self.assertIn("holds 2 measurements", said)
        measured = (self.folder / "measured").read_text().split()
        self.assertEqual(measured, ["resnet34", "vgg16", "resnet50", "resnet50", "densenet161"])
        kept = [entry["model"] for entry in json.loads(self.file.read_text())["results"]]
        self.assertEqual(kept, ["resnet34", "resnet50", "densenet161", "vgg16"])

    def test_a_peer_that_came_is_measured_and_the_missing_are_named(self):
        measured = []

        def measure(tasks, place, seconds, precision, say):
            measured.append((place.name, *tasks))
            return {peer: timed(peer, 7) for peer in tasks}

        command = ["resnet34", "--lathe", str(self.fake_lathe()), "--threads", "1", "--resume"]
        modules = {"peers_lib.measure": types.SimpleNamespace(measure=measure)}
        with mock.patch.dict(sys.modules, modules), \
                mock.patch.multiple(driver, _prepare=lambda *_: {}, _compile=lambda *_: ""):
            there = ["numpy", "onnx", "ncnn"]
            for installed in (there, there, [*there, "torch"]):
                status, said = self.run_driver(*command, installed=installed)
                self.assertEqual(status, 0)
        self.assertEqual(measured, [("model0", "lathe", "ncnn"),
                                    ("model0", "lathe", "ncnn", "torch")])
        self.assertIn("onnxruntime: not installed", said)

    def test_named_peers_that_are_missing_are_an_error(self):
        status, said = self.run_driver("resnet34", "--peers", "best")
        self.assertEqual(status, 2)
        self.assertIn("not installed: onnxruntime, openvino, ncnn, torch", said)
        self.assertIn("scripts/setup-bench", said)


class Page(unittest.TestCase):
    def test_tables(self):
        self.assertEqual(page.tables(example()).splitlines()[2:8], [
            "| network | Lathe | ONNX Runtime | ncnn | speed |",
            "|---|---|---|---|---|",
            "| ResNet-34 | 100 | 200 | **50.0** | 0.50 |",
            "| ResNet-34-CIFAR | 20.0 | **50.0** | 80.0 | 2.50 |",
            "| ResNet-34-CIFAR, 4 groups | 10.0 | 40.0 | **20.0** | 2.00 |",
            "| geometric mean | | | | **1.12** |"])

    def test_head(self):
        made = example()
        made.runs[2]["resnet34"]["onnxruntime"].median = 0.02
        lines = page.head(made).splitlines()
        self.assertIn("| ResNet-34 | 100 / 60.0 | ncnn 50.0 / ONNX Runtime 20.0 | 0.50 / 0.33 |",
                      lines)
        self.assertIn("| ResNet-34-CIFAR | 20.0 | ONNX Runtime 50.0 | 2.50 |", lines)
        self.assertIn("2026-11-15, 5 s a peer", lines[0])

    def test_a_machine_that_was_not_quiet_is_said(self):
        made = example()
        self.assertNotIn("Other programs", page.head(made) + page.conditions(made))
        made.runs[1]["resnet34"]["ncnn"].foreign_cpu = 0.5
        self.assertIn("Other programs used up to 50 %", page.conditions(made))

    def test_what_failed_is_named(self):
        made = example()
        made.runs[1]["resnet34"]["ncnn"] = Result("ncnn", "failed", "no such operator")
        self.assertIn("- ncnn on ResNet-34: failed, no such operator", page.conditions(made))

    def test_groups_and_machine(self):
        self.assertIn("| ResNet-34-CIFAR, 4 groups | 1 | 2.00 | 5.00 |", page.groups(example()))
        self.assertIn("Abacus, wood", page.machine(example()))
        self.assertIn("63.5 GB/s", page.machine(example()))

    def test_only_marked_parts_are_rewritten(self):
        text = "a\n<!-- speed: machine -->\nold\n<!-- speed: end -->\nb\n"
        written = page.rewrite(text, example())
        self.assertRegex(written, r"^a\n<!-- speed: machine -->\n    processor")
        self.assertTrue(written.endswith("\n<!-- speed: end -->\nb\n"))
        self.assertNotIn("old", written)
        self.assertEqual(page.rewrite(written, example()), written)

    def test_wrong_marks_are_errors(self):
        for text in ("nothing", "<!-- speed: table -->\nno end\n",
                     "<!-- speed: taable -->\n<!-- speed: end -->\n"):
            with self.assertRaises(page.PageError):
                page.rewrite(text, example())

    def test_the_documents_are_marked(self):
        for name in page.DOCUMENTS:
            page.rewrite((ROOT / name).read_text(), example())

    def test_measurements_without_a_peer_make_no_page(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "networks.json"
            resume.save(report({(1, "resnet34"): results(lathe=1)}), file)
            status, said = quietly(lambda: page.write_pages(Path(folder), file))
        self.assertEqual(status, 2)
        self.assertIn("no comparison of Lathe with a peer", said)

    def test_the_picture_is_xml_with_a_bar_for_each(self):
        svg = chart(example())
        xml.dom.minidom.parseString(svg)
        self.assertIn("ResNet-34-CIFAR, 4 groups, Lathe: 4.00", svg)
        self.assertIn("ONNX Runtime = 1", svg)
        without = {(1, "vgg16"): results(lathe=10, torch=20)}
        self.assertIn("PyTorch = 1", chart(report(without)))


def is_there(module):
    return importlib.util.find_spec(module) is not None


PARAM = """7767517
8 9
Input in0 0 1 in0
Convolution first 1 1 in0 1 0=8 1=3 4=1 5=1 6=288 9=1
ConvolutionDepthWise second 1 1 1 2 0=8 1=3 4=1 5=0 6=72 7=8
Split copies 1 2 2 3 4
Convolution third 1 1 3 5 0=4 1=1 5=1 6=32
Convolution fourth 1 1 4 6 0=4 1=1 5=1 6=32
BinaryOp sum 2 1 5 6 7 0=0
InnerProduct last 1 1 7 out0 0=10 1=1 2=10240
"""


@unittest.skipUnless(is_there("numpy"), "no numpy")
class NcnnIntegers(unittest.TestCase):
    def setUp(self):
        import numpy as np

        rng = np.random.default_rng(3)
        parts = []
        for weights, bias in ((288, 8), (72, 0), (32, 4), (32, 4), (10240, 10)):
            parts += [bytes(4), rng.standard_normal(weights + bias, np.float32).tobytes()]
        self.data = b"".join(parts)
        self.image = rng.standard_normal((4, 16, 16), np.float32)

    def quantised(self):
        from peers_lib import ncnn_int8

        blobs = {"in0": 4.0, "1": 2.0, "3": 8.0, "4": 8.0, "7": 16.0}
        return ncnn_int8.quantised(PARAM, self.data, lambda names: {n: blobs[n] for n in names})

    def test_scales_follow_the_weights(self):
        from peers_lib import ncnn_int8

        param, data = self.quantised()
        lines = {line.split()[1]: line for line in param.splitlines()[2:]}
        self.assertEqual({name: line.split(" 8=")[1] for name, line in lines.items()
                          if " 8=" in line},
                         {"first": "102", "second": "101", "third": "2", "fourth": "2",
                          "last": "2"})
        self.assertEqual(lines["sum"], "BinaryOp sum 2 1 5 6 7 0=0")
        # Scales of filters, of what is read, and of what is written where that is integers, too.
        more = (8 + 1 + 1) + (8 + 1 + 1) + (4 + 1) + (4 + 1) + (10 + 1)
        self.assertEqual(len(data), len(self.data) + 4 * more)
        import numpy as np

        first = ncnn_int8.parse(PARAM, self.data)[1]
        scales = np.frombuffer(data, np.float32, 10, len(first.data))
        largest = np.abs(first.weights.reshape(8, -1)).max(axis=1)
        np.testing.assert_allclose(scales, [*(127 / largest), 127 / 4.0, 127 / 2.0], rtol=1e-6)

    def test_data_of_no_layer_are_refused(self):
        from peers_lib import ncnn_int8

        with self.assertRaisesRegex(NotImplementedError, "8 bytes belong to no layer"):
            ncnn_int8.parse(PARAM, self.data + bytes(8))
        with self.assertRaisesRegex(NotImplementedError, "the weights of first are no fp32"):
            ncnn_int8.parse(PARAM, b"GK0\1" + self.data[4:])

    @unittest.skipUnless(is_there("ncnn"), "no ncnn")
    def test_ncnn_computes_almost_the_same(self):
        import numpy as np
        from peers_lib import peer_ncnn
        from peers_lib.task import Task

        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "model.ncnn.param").write_text(PARAM)
            (place / "model.ncnn.bin").write_bytes(self.data)
            np.save(place / "images.npy", self.image[None])
            np.save(place / "input.npy", self.image[None])
            task = Task("", {"in0": str(place / "input.npy")}, 1, [0], folder,
                        images=str(place / "images.npy"))
            floats = peer_ncnn.load(task)
            self.assertEqual(floats.floats(), [])
            must = floats.outputs()[0]
            task.precision = "int8"
            integers = peer_ncnn.load(task)
            found = integers.outputs()[0]
            np.testing.assert_allclose(integers.floats()[0], must, rtol=1e-6)
        self.assertEqual(found.shape, (10,))
        apart = np.abs(found - must).max() / np.abs(must).max()
        self.assertLess(apart, 0.05)
        self.assertGreater(apart, 0)


if __name__ == "__main__":
    unittest.main()
