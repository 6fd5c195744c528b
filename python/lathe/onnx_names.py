"""Names in an ONNX file that PyTorch wrote: layers get those of their modules, and each weight is
there on its own.

An ONNX file is a protocol buffer: fields with a number, and lengths before texts and messages.
"""
GRAPH = 7  # of ModelProto
NODE, GRAPH_NAME, WEIGHT = 1, 2, 5  # of GraphProto
INPUT, OUTPUT, NODE_NAME, OPERATOR = 1, 2, 3, 4  # of NodeProto
WEIGHT_NAME = 8  # of TensorProto
MESSAGE = 2  # the kind of texts and messages
ENDINGS = (".weight", ".bias", ".running_mean")


def renamed(content: bytes, name: str) -> bytes:
    """Returns an ONNX file in which the graph has a name, and each node that reads the weight
    ``layer1.0.conv1.weight`` is called ``layer1.0.conv1``. Where several nodes read it, the first
    one is. Weights that PyTorch wrote once because they were equal are there on their own again."""
    return b"".join(_field(number, kind, _graph(value, name) if number == GRAPH else value)
                    for number, kind, value in _fields(content))


def _graph(content, name):
    fields = list(_fields(content))
    weights = {_texts(value, WEIGHT_NAME)[0]: value for number, _, value in fields
               if number == WEIGHT}
    parts, taken = [], set()
    for number, kind, value in fields:
        if number == NODE and _is_copy(value, weights):
            weight = weights[_texts(value, INPUT)[0]]
            number, value = WEIGHT, _changed(weight, WEIGHT_NAME, _texts(value, OUTPUT)[0])
        elif number == NODE:
            value = _node(value, taken)
        elif number == GRAPH_NAME:
            value = name.encode()
        parts.append(_field(number, kind, value))
    return b"".join(parts)


def _is_copy(node, weights):
    """Does a node only hand on a weight under another name?"""
    return _texts(node, OPERATOR) == ["Identity"] and _texts(node, INPUT)[0] in weights


def _node(content, taken):
    module = _module_of(_texts(content, INPUT))
    if module is None or module in taken:
        return content
    taken.add(module)
    return _changed(content, NODE_NAME, module)


def _texts(content, wanted):
    """Returns the texts of a field of a message."""
    return [value.decode() for number, _, value in _fields(content) if number == wanted]


def _changed(content, wanted, text):
    """Returns a message with another text in a field."""
    rest = [_field(*field) for field in _fields(content) if field[0] != wanted]
    return b"".join(rest) + _field(wanted, MESSAGE, text.encode())


def _module_of(inputs):
    """Returns the module whose weight a node reads; None if there is none.

    >>> _module_of(["x", "layer1.0.conv1.weight"])
    'layer1.0.conv1'
    """
    for each in inputs:
        for ending in ENDINGS:
            if each.endswith(ending):
                return each[:-len(ending)]
    return None


def _fields(content):
    """Yields the fields of a message: number, kind, and the number or bytes that it holds."""
    at = 0
    while at < len(content):
        key, at = _read(content, at)
        if key & 7 == 0:
            value, at = _read(content, at)
        else:
            size, at = _read(content, at) if key & 7 == MESSAGE else ({1: 8, 5: 4}[key & 7], at)
            value, at = content[at:at + size], at + size
        yield key >> 3, key & 7, value


def _field(number, kind, value):
    """Returns a field as bytes.

    >>> _field(3, 2, b"stem")
    b'\\x1a\\x04stem'
    """
    key = _written(number << 3 | kind)
    if kind == 0:
        return key + _written(value)
    return key + (_written(len(value)) if kind == MESSAGE else b"") + value


def _read(content, at):
    """Reads a number, seven bits a byte; returns it and the place behind it.

    >>> _read(bytes([172, 2]), 0)
    (300, 2)
    """
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _written(value):
    """Writes such a number.

    >>> list(_written(300))
    [172, 2]
    """
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes(parts) + bytes([value])
