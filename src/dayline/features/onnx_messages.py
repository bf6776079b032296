"""The messages of an ONNX file, with the fields that dayline reads or writes.

onnxruntime runs the networks and depends on protobuf. All that dayline would need from the onnx
package are these names and numbers, which come from onnx.proto and never change.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

FLOAT = 1
"""Type of a tensor's elements: float32."""

INT, INTS = 2, 7
"""Type of an attribute: one integer, or several."""

# Number and type of each field; a star marks repeated fields. Fields that are not listed are
# ignored when a file is read. Every field through which a tensor can be reached must be listed.
_FIELDS = {
    "ModelProto": {
        "ir_version": (1, "int64"),
        "producer_name": (2, "string"),
        "graph": (7, "GraphProto"),
        "opset_import": (8, "OperatorSetIdProto*"),
        "training_info": (20, "TrainingInfoProto*"),
        "functions": (25, "FunctionProto*"),
    },
    "OperatorSetIdProto": {"domain": (1, "string"), "version": (2, "int64")},
    "TrainingInfoProto": {"initialization": (1, "GraphProto"), "algorithm": (2, "GraphProto")},
    "FunctionProto": {"node": (7, "NodeProto*"), "attribute_proto": (11, "AttributeProto*")},
    "GraphProto": {
        "node": (1, "NodeProto*"),
        "name": (2, "string"),
        "initializer": (5, "TensorProto*"),
        "input": (11, "ValueInfoProto*"),
        "output": (12, "ValueInfoProto*"),
        "sparse_initializer": (15, "SparseTensorProto*"),
    },
    "NodeProto": {
        "input": (1, "string*"),
        "output": (2, "string*"),
        "op_type": (4, "string"),
        "attribute": (5, "AttributeProto*"),
    },
    "AttributeProto": {
        "name": (1, "string"),
        "i": (3, "int64"),
        "t": (5, "TensorProto"),
        "g": (6, "GraphProto"),
        "ints": (8, "int64*"),
        "tensors": (10, "TensorProto*"),
        "graphs": (11, "GraphProto*"),
        "type": (20, "int32"),
        "sparse_tensor": (22, "SparseTensorProto"),
        "sparse_tensors": (23, "SparseTensorProto*"),
    },
    "SparseTensorProto": {"values": (1, "TensorProto"), "indices": (2, "TensorProto")},
    "TensorProto": {
        "dims": (1, "int64*"),
        "data_type": (2, "int32"),
        "name": (8, "string"),
        "raw_data": (9, "bytes"),
        "external_data": (13, "StringStringEntryProto*"),
    },
    "StringStringEntryProto": {"key": (1, "string"), "value": (2, "string")},
    "ValueInfoProto": {"name": (1, "string"), "type": (2, "TypeProto")},
    "TypeProto": {"tensor_type": (1, "TensorTypeProto")},
    "TensorTypeProto": {"elem_type": (1, "int32"), "shape": (2, "TensorShapeProto")},
    "TensorShapeProto": {"dim": (1, "DimensionProto*")},
    "DimensionProto": {"dim_value": (1, "int64"), "dim_param": (2, "string")},
}


@cache
def onnx_messages() -> Any:
    """Return the classes of all messages under their names in onnx.proto."""
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    file = FileDescriptorProto(name="onnx.proto", package="onnx", syntax="proto2")
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            label = (
                FieldDescriptorProto.LABEL_REPEATED
                if kind.endswith("*")
                else FieldDescriptorProto.LABEL_OPTIONAL
            )
            of_field = message.field.add(name=field, number=number, label=label)
            kind = kind.rstrip("*")
            if kind in _FIELDS:
                of_field.type, of_field.type_name = (
                    FieldDescriptorProto.TYPE_MESSAGE,
                    f".onnx.{kind}",
                )
            else:
                of_field.type = FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")
    # A separate pool: the onnx package registers the same names in the default one.
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return SimpleNamespace(
        **{name: GetMessageClass(pool.FindMessageTypeByName(f"onnx.{name}")) for name in _FIELDS}
    )


def tensors_inside(message: Any) -> Iterator[Any]:
    """Yield every tensor in a message: weights, attribute values, and those of nested graphs."""
    if message.DESCRIPTOR.name == "TensorProto":
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in [value] if hasattr(value, "ListFields") else value:
                yield from tensors_inside(inner)
