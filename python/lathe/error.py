"""What goes wrong."""


class Error(RuntimeError):
    """Wrong input, or something is missing. The message says what, where, and what would be right.

    >>> import lathe
    >>> lathe.model("resnet20-cifar").apply("layer9: group(2)").macs
    Traceback (most recent call last):
    ...
    lathe.error.Error: no convolution or fully connected layer is called 'layer9'; ...
    """
