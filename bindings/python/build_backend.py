"""meson-python with the tag of the oldest Python that the module serves: it uses the limited API of 3.9, and meson-python 0.12
names the interpreter that builds."""
import mesonpy
import mesonpy._tags
from mesonpy import *  # noqa: F401,F403  the hooks of PEP 517

mesonpy._tags.get_interpreter_tag = lambda: "cp39"
