"""Arrays as compiled networks see them."""
import ctypes

TYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "i64": "int64", "i32": "int32",
         "i16": "int16", "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16",
         "u8": "uint8", "bool": "bool"}


def places(arrays):
    """Returns where arrays are, for C."""
    return (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])
