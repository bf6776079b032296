"""Checkpoints give tensors and nothing else."""

from __future__ import annotations

import io
import os
import pickle
import pickletools
import resource
import struct
import tracemalloc
import warnings
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from dayline.features.checkpoint import read_checkpoint
from dayline.files import UnreadableFileError

OPERATION_CODES = [ord(operation.code) for operation in pickletools.opcodes]
KNOWN_OPERATIONS = set(
    b"\x80\x95(N\x88\x89JKM\x8aGX\x8cUT)\x85\x86\x87t]ae}suqr\x94hjc\x93R\x81bQ."
)


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


def tensor_pickle(
    *, storage: bytes = b"FloatStorage", n_elements: int = 6, shape=(2, 3), strides=(3, 1)
) -> bytes:
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
    with warnings.catch_warnings():
        # New versions of PyTorch call this deprecated; there are files of old ones.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.trace(inner, torch.zeros(1, 3)).save(tmp_path / "model.pt")
    read = read_checkpoint(tmp_path / "model.pt")
    np.testing.assert_array_equal(read["0.weight"], inner[0].weight.detach().numpy())
    np.testing.assert_array_equal(read["1.running_var"], inner[1].running_var.numpy())


@pytest.mark.parametrize("protocol", [2, 4])
def test_reads_the_state_of_a_network_with_the_versions_of_its_layers(tmp_path, protocol):
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    state = network.state_dict()
    assert state._metadata  # kept on the dictionary, as the state of an object
    content = {"epoch": 3, "loss": 0.25, "steps": [1, (2, None)], "model": state, "best": True}
    torch.save(content, tmp_path / "model.pth", pickle_protocol=protocol)
    read = read_checkpoint(tmp_path / "model.pth")
    assert list(read) == [f"model.{name}" for name in state]
    np.testing.assert_array_equal(read["model.0.weight"], state["0.weight"].numpy())


def test_reads_a_legacy_file_whose_data_serves_several_tensors(tmp_path):
    torch = pytest.importorskip("torch")
    whole = torch.arange(12.0)
    content = {"late": whole[6:], "hidden": [torch.ones(3)], "early": whole[:6].reshape(2, 3)}
    torch.save(content, tmp_path / "model.pth", _use_new_zipfile_serialization=False)
    read = read_checkpoint(tmp_path / "model.pth")
    assert list(read) == ["late", "early"]
    np.testing.assert_array_equal(read["early"], [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(read["late"], np.arange(6, 12))


def test_reads_nested_dictionaries_by_dotted_names(tmp_path):
    pickled = tensor_pickle()
    nested = b"\x80\x02}X\x05\x00\x00\x00state" + pickled[2:-1] + b"s."
    read = read_checkpoint(write_zip(tmp_path / "m.pth", nested))
    np.testing.assert_array_equal(read["state.w"], [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize("zipped", [True, False])
def test_refuses_a_pickle_that_runs_a_command(tmp_path, zipped):
    mark = tmp_path / "ran"
    pickled = pickle.dumps({"w": Attack(os.system, f"touch {mark}")}, protocol=2)
    path = tmp_path / "evil.pth"
    if zipped:
        write_zip(path, pickled)
    else:
        head = (
            pickle.dumps(part, 2)
            for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
        )
        path.write_bytes(b"".join(head) + pickled)
    with pytest.raises(ValueError, match=r"evil\.pth: .*system.*not allowed"):
        read_checkpoint(path)
    assert not mark.exists()


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("function", [eval, getattr, __import__, io.open, np.load])
def test_refuses_every_other_function(tmp_path, function, protocol):
    pickled = pickle.dumps(Attack(function, "1"), protocol=protocol)
    with pytest.raises(ValueError, match="not allowed"):
        read_checkpoint(write_zip(tmp_path / "evil.pth", pickled))


@pytest.mark.parametrize(
    "name",
    [
        "torch._utils\n_rebuild_tensor_v2.__globals__\n",
        "torch\nload\n",
        "torch.storage\n_load_from_bytes\n",
    ],
)
def test_refuses_neighbours_of_admitted_names(tmp_path, name):
    with pytest.raises(ValueError, match="not allowed"):
        read_checkpoint(write_zip(tmp_path / "evil.pth", b"\x80\x04c" + name.encode() + b"."))


def test_a_file_cannot_alter_the_reader(tmp_path):
    # BUILD with slot state sets attributes on what is on the stack: here, on the tensor function
    # itself.
    evil = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}X\x08\x00\x00\x00__call__cbuiltins\n"
    evil = evil.replace(b"cbuiltins\n", b"K\x01") + b"s\x86b."
    with pytest.raises(ValueError, match="not a readable"):
        read_checkpoint(write_zip(tmp_path / "evil.pth", evil))
    read = read_checkpoint(write_zip(tmp_path / "good.pth", tensor_pickle()))
    np.testing.assert_array_equal(read["w"], [[0, 1, 2], [3, 4, 5]])


def test_a_tensor_cannot_be_changed_after_it_was_checked(tmp_path):
    # BUILD on the tensor with the values of all its fields: the same storage, and a shape far
    # beyond it.
    tensor = tensor_pickle()[:-2]
    storage = tensor[tensor.index(b"(X\x07\x00\x00\x00storage") : tensor.index(b"tQ") + 2]
    beyond = b"J" + struct.pack("<i", 1000)
    state = b"(" + storage + b"K\x00" + beyond + b"\x85" + b"K\x01\x85" + b"t"
    for change in (
        state,
        b"]" + state[:-1] + b"e",
        b"N}X\x05\x00\x00\x00shape" + beyond + b"\x85s\x86",
    ):
        with pytest.raises(ValueError, match="changes an object after creating it"):
            read_checkpoint(write_zip(tmp_path / "evil.pth", tensor + change + b"bs."))


@pytest.mark.parametrize("code", sorted(set(OPERATION_CODES) - KNOWN_OPERATIONS))
def test_refuses_every_operation_that_no_checkpoint_needs(tmp_path, code):
    evil = b"\x80\x02}" + bytes([code]) + b"\x01\n\x01\n."
    with pytest.raises(ValueError, match="which is not allowed"):
        read_checkpoint(write_zip(tmp_path / "evil.pth", evil))


@pytest.mark.parametrize(
    ("pickled", "message"),
    [
        (b"\x80\x02}r\xff\xff\xff\x7f.", "contains no tensors"),
        (b"\x80\x02}j\xff\xff\xff\x7f.", "damaged"),
        (b"\x80\x02X\xff\xff\xff\x7fx.", "longer than any network has"),
        (b"\x80\x02" + b"}" * 1_000_001, "nests more objects"),
        (b"\x80\x02" + b"]" * 300_000 + b"a" * 299_999 + b".", "contains no tensors"),
        (
            b"\x80\x02)" + b"q\x00h\x00h\x00\x86" * 60 + b"}q\x01h\x00K\x01s.",
            "neither names nor numbers",
        ),
        (b"\x80\x02ccollections\nOrderedDict\n}b.", "changes an object"),
        (b"\x80\x02c__torch__.a\nB\n)\x81}b}b.", "changes an object"),
        (b"\x80\x02ctorch\nFloatStorage\n)R.", "calls torch.FloatStorage, which is not a function"),
        (b"\x80\x02c__torch__.a\nB\n)R.", "is not a function"),
    ],
)
def test_small_files_cannot_make_the_reader_take_memory_or_time(tmp_path, pickled, message):
    path = write_zip(tmp_path / "m.pth", pickled)
    tracemalloc.start()
    with pytest.raises(ValueError, match=message):
        read_checkpoint(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


def test_one_storage_is_not_copied_without_limit(tmp_path):
    # A thousand tensors of one storage of 4 MB.
    one = tensor_pickle(n_elements=2**20, shape=(2**20,), strides=(1,))[3:-2]
    tensor = one[one.index(b"ctorch._utils") :]
    names = (b"X\x04\x00\x00\x00%04d" % k for k in range(1000))
    first = b"X\x05\x00\x00\x00first" + tensor + b"q\x07s"
    pickled = b"\x80\x02}" + first + b"".join(name + b"h\x07s" for name in names) + b"."
    with zipfile.ZipFile(tmp_path / "m.pth", "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", bytes(4 * 2**20))
    with pytest.raises(
        ValueError, match=r"its tensors together declares 3\.9 GB, over the limit of 256 MB"
    ):
        read_checkpoint(tmp_path / "m.pth")


def test_a_legacy_file_that_declares_more_data_than_it_has_is_cut_off(tmp_path):
    parts = [
        pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    ]
    n = 2**31 - 1
    parts += [tensor_pickle(n_elements=n), pickle.dumps(["0"], 2), struct.pack("<q", n), bytes(24)]
    (tmp_path / "m.pth").write_bytes(b"".join(parts))
    with pytest.raises(ValueError, match="is truncated: the data '0' is incomplete"):
        read_checkpoint(tmp_path / "m.pth")


def mutated(good: bytes, rng: np.random.Generator) -> bytes:
    content = bytearray(good)
    for _ in range(rng.integers(1, 5)):
        at, other = (int(k) for k in rng.integers(len(content), size=2))
        match int(rng.integers(5)):
            case 0:
                content[at] ^= 1 << int(rng.integers(8))
            case 1:
                content[at] = int(rng.integers(256))
            case 2:
                content[at] = int(rng.choice(OPERATION_CODES))
            case 3:
                content[at : at + 4] = struct.pack(
                    "<i", int(rng.choice([-1, 0, 2**31 - 1, -(2**31)]))
                )
            case 4:
                content[at:at] = content[other : other + int(rng.integers(40))]
    return bytes(content)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_ten_thousand_damaged_files_give_tensors_of_their_own_data_or_one_line(tmp_path):
    torch = pytest.importorskip("torch")
    content = OrderedDict(
        a=torch.arange(6.0).reshape(2, 3).T, b=torch.arange(5), c={"d": torch.zeros(2, 0, 3)}
    )
    goods = []
    for zipped in (True, False):
        torch.save(content, tmp_path / "good.pth", _use_new_zipfile_serialization=zipped)
        goods.append((tmp_path / "good.pth").read_bytes())
    with zipfile.ZipFile(io.BytesIO(goods[0])) as archive:
        pickled = archive.read("good/data.pkl")
    child = os.fork()
    if child == 0:  # a crash must not take the test with it
        limit = _virtual_size() + 512 * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os._exit(_try_damaged(tmp_path / "m.pth", pickled, goods))
    assert os.waitpid(child, 0)[1] == 0


def _virtual_size() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _try_damaged(path: Path, pickled: bytes, goods: list[bytes]) -> int:
    rng, status = np.random.default_rng(5), 0
    for number in range(10_000):
        if number % 4 < 2:
            # Damage inside the pickle alone, which the checksum of the archive would not let
            # through.
            write_zip(path, mutated(pickled, rng))
        else:
            path.write_bytes(mutated(goods[number % 2], rng))
        try:
            read = read_checkpoint(path)
        except UnreadableFileError as error:
            status = status if str(error).startswith(f"{path}: ") and "\n" not in str(error) else 3
            status = 5 if "memory" in str(error) else status
        except BaseException:
            status = 4
        else:
            status = 6 if sum(a.nbytes for a in read.values()) > 2**20 else status
    return status


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (2, 4), "strides": (4, 1)}, "beyond its data"),
        ({"shape": (2, 3), "strides": (4, 1)}, "beyond its data"),
        ({"shape": (1000, 1000), "strides": (0, 0)}, "beyond its data"),
        ({"strides": (-3, 1)}, "contains a malformed tensor"),
        ({"shape": (6,)}, "contains a malformed tensor"),
        ({"n_elements": 7}, "truncated"),
        ({"storage": b"QInt8Storage"}, "not allowed"),
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


@pytest.mark.parametrize(
    "content", [b"", b"\x80\x02", b"not a checkpoint", b"PK\x03\x04 cut", b"\x80\x02}."]
)
def test_says_which_file_is_no_checkpoint(tmp_path, content):
    (tmp_path / "m.pth").write_bytes(content)
    with pytest.raises(ValueError, match=r"m\.pth: damaged, or not a readable PyTorch checkpoint"):
        read_checkpoint(tmp_path / "m.pth")


def test_says_that_a_file_is_missing_or_empty_of_tensors(tmp_path):
    with pytest.raises(ValueError, match=r"none\.pth: cannot be read"):
        read_checkpoint(tmp_path / "none.pth")
    with pytest.raises(ValueError, match="contains no tensors"):
        read_checkpoint(write_zip(tmp_path / "m.pth", pickle.dumps({"epoch": 3}, 2)))
