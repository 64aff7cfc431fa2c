#: __import__ by its plain name is found
__import__("os")  #> python-import@1

#: __import__ in a function is found
def calculate(text):
    value = __import__(text)  #> python-import@13
    return value

#: __import__ of builtins is found
import builtins

builtins.__import__("os")  #> python-import

#: __import__ of what every module knows as builtins is found
__builtins__.__import__("os")  #> python-import
__builtins__["__import__"]("os")  #> python-import

#: __import__ imported from builtins is found
from builtins import __import__ as calculate

calculate("os")  #> python-import

#: __import__ assigned to a name is found twice
run_it = __import__  #> python-import
run_it("os")  #> python-import

#: __import__ by getattr is found
import builtins

getattr(builtins, "__import__")("os")  #> python-import

#: __import__ in a lambda is found
table = {"x": lambda t: __import__(t)}  #> python-import

#: __import__ in a table is found
table = {"x": __import__}  #> python-import

#: __import__ handed on is found
values = list(map(__import__, ["1", "2"]))  #> python-import

#: __import__ as a default is found
def apply(text, how=__import__):  #> python-import
    return how(text)

#: __import__ by a walrus is found
if (f := __import__):  #> python-import
    f("os")  #> python-import

#: __import__ of sys.modules is found
import sys

sys.modules["builtins"].__import__("os")  #> python-import

#: __import__ in a comprehension is found
print({k: __import__(k) for k in ("1", "2")})  #> python-import

#: __import__ after an earlier use of the same name as an attribute is found
class Model:
    def __import__(self):
        return self.__import__


m = Model()
m.__import__()
__import__("os")  #> python-import

#: importlib.__import__ is found
import importlib

importlib.__import__("os")  #> python-import
