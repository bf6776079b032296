"""Checkpoints give tensors and nothing else."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from dayline.features.checkpoint import read_checkpoint


class Attack:
    """Pickles to a call of any function."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def write_zip(path: Path, pickled: bytes, *, compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", np.arange(6, dtype="<f4").tobytes())
    return path


def tensor_pickle(*, storage: bytes = b"FloatStorage", n_elements: int = 6, shape=(2, 3), strides=(3, 1)) -> bytes:
    """The pickle of {"w": tensor}, written by hand since pickling it would take PyTorch."""

    def numbers(values):
        return b"(" + b"".join(b"J" + struct.pack("<i", value) for value in values) + b"t"

    def text(value: bytes):
        return b"X" + struct.pack("<I", len(value)) + value

    persistent = (
        (b"(" + text(b"storage") + b"ctorch\n" + storage + b"\n" + text(b"0") + text(b"cpu"))
        + b"J"
        + struct.pack("<i", n_elements)
        + b"tQ"
    )
    arguments = b"(" + persistent + b"K\x00" + numbers(shape) + numbers(strides) + b"\x89}t"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R"
    return b"\x80\x02}" + text(b"w") + tensor + b"s."


@pytest.mark.parametrize("zipped", [True, False])
def test_reads_what_torch_saves_in_both_formats(tmp_path, zipped):
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(3)
    tensors = {
        "a.weight": torch.randn(4, 3, 2, generator=generator),
        "a.turned": torch.randn(5, 2, generator=generator).T,
        "a.part": torch.arange(10)[3:7],
        "half": torch.randn(3, generator=generator).half(),
        "count": torch.tensor(7),
        "flag": torch.tensor([True, False]),
    }
    path = tmp_path / "model.pth"
    content = OrderedDict(tensors) | {"p": torch.nn.Parameter(tensors["a.weight"] + 1)}
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    read = read_checkpoint(path)
    assert list(read) == list(content)
    for name, tensor in content.items():
        assert read[name].dtype == tensor.detach().numpy().dtype
        np.testing.assert_array_equal(read[name], tensor.detach().numpy())


def test_reads_torchscript_by_attribute_names(tmp_path):
    torch = pytest.importorskip("torch")
    inner = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)).eval()
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        torch.jit.trace(inner, torch.zeros(1, 3)).save(tmp_path / "model.pt")
    read = read_checkpoint(tmp_path / "model.pt")
    np.testing.assert_array_equal(read["0.weight"], inner[0].weight.detach().numpy())
    np.testing.assert_array_equal(read["1.running_var"], inner[1].running_var.numpy())


def test_reads_nested_dictionaries_by_dotted_names(tmp_path):
    pickled = tensor_pickle()
    nested = b"\x80\x02}X\x05\x00\x00\x00state" + pickled[2:-1] + b"s."
    read = read_checkpoint(write_zip(tmp_path / "m.pth", nested))
    np.testing.assert_array_equal(read["state.w"], [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize("zipped", [True, False])
def test_refuses_a_pickle_that_runs_a_command(tmp_path, zipped):
    import os

    mark = tmp_path / "ran"
    pickled = pickle.dumps({"w": Attack(os.system, f"touch {mark}")}, protocol=2)
    path = tmp_path / "evil.pth"
    if zipped:
        write_zip(path, pickled)
    else:
        head = (pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
        path.write_bytes(b"".join(head) + pickled)
    with pytest.raises(ValueError, match=r"evil\.pth: .*system.*refused"):
        read_checkpoint(path)
    assert not mark.exists()


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("function", [eval, getattr, __import__, io.open, np.load])
def test_refuses_every_other_function(tmp_path, function, protocol):
    pickled = pickle.dumps(Attack(function, "1"), protocol=protocol)
    with pytest.raises(ValueError, match="refused"):
        read_checkpoint(write_zip(tmp_path / "evil.pth", pickled))


@pytest.mark.parametrize(
    "name",
    ["torch._utils\n_rebuild_tensor_v2.__globals__\n", "torch\nload\n", "torch.storage\n_load_from_bytes\n"],
)
def test_refuses_neighbours_of_admitted_names(tmp_path, name):
    with pytest.raises(ValueError, match="refused"):
        read_checkpoint(write_zip(tmp_path / "evil.pth", b"\x80\x04c" + name.encode() + b"."))


def test_a_file_cannot_alter_the_reader(tmp_path):
    # BUILD with slot state sets attributes on what is on the stack: here, on the tensor function itself.
    evil = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}X\x08\x00\x00\x00__call__cbuiltins\n"
    evil = evil.replace(b"cbuiltins\n", b"K\x01") + b"s\x86b."
    with pytest.raises(ValueError, match="not a readable"):
        read_checkpoint(write_zip(tmp_path / "evil.pth", evil))
    read = read_checkpoint(write_zip(tmp_path / "good.pth", tensor_pickle()))
    np.testing.assert_array_equal(read["w"], [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (2, 4), "strides": (4, 1)}, "beyond its data"),
        ({"shape": (2, 3), "strides": (4, 1)}, "beyond its data"),
        ({"shape": (1000, 1000), "strides": (0, 0)}, "beyond its data"),
        ({"strides": (-3, 1)}, "described wrongly"),
        ({"shape": (6,)}, "described wrongly"),
        ({"n_elements": 7}, "cut off"),
        ({"storage": b"QInt8Storage"}, "refused"),
    ],
)
def test_refuses_tensors_that_do_not_fit_their_data(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        read_checkpoint(write_zip(tmp_path / "m.pth", tensor_pickle(**changes)))


def test_refuses_compressed_data(tmp_path):
    path = write_zip(tmp_path / "m.pth", tensor_pickle(), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="compressed"):
        read_checkpoint(path)


def test_refuses_objects_nested_without_end(tmp_path):
    # Each level holds the one below twice: 2 ** 40 paths from 40 small dictionaries.
    level: dict[str, object] = {}
    for _ in range(40):
        level = {"a": level, "b": level}
    with pytest.raises(ValueError, match="nests more"):
        read_checkpoint(write_zip(tmp_path / "m.pth", pickle.dumps(level, 2)))


@pytest.mark.parametrize("content", [b"", b"\x80\x02", b"not a checkpoint", b"PK\x03\x04 cut", b"\x80\x02}."])
def test_says_which_file_is_no_checkpoint(tmp_path, content):
    (tmp_path / "m.pth").write_bytes(content)
    with pytest.raises(ValueError, match=r"m\.pth: not a readable PyTorch checkpoint"):
        read_checkpoint(tmp_path / "m.pth")


def test_says_that_a_file_is_missing_or_empty_of_tensors(tmp_path):
    with pytest.raises(ValueError, match=r"none\.pth: cannot be read"):
        read_checkpoint(tmp_path / "none.pth")
    with pytest.raises(ValueError, match="holds no tensors"):
        read_checkpoint(write_zip(tmp_path / "m.pth", pickle.dumps({"epoch": 3}, 2)))
