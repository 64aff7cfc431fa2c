#: exec by its plain name is found
exec("x = 1")  #> python-exec@1

#: exec in a function is found
def calculate(text):
    value = exec(text)  #> python-exec@13
    return value

#: exec of builtins is found
import builtins

builtins.exec("x = 1")  #> python-exec

#: exec of what every module knows as builtins is found
__builtins__.exec("x = 1")  #> python-exec
__builtins__["exec"]("x = 1")  #> python-exec

#: exec imported from builtins is found
from builtins import exec as calculate

calculate("x = 1")  #> python-exec

#: exec assigned to a name is found twice
run_it = exec  #> python-exec
run_it("x = 1")  #> python-exec

#: exec by getattr is found
import builtins

getattr(builtins, "exec")("x = 1")  #> python-exec

#: exec in a lambda is found
table = {"x": lambda t: exec(t)}  #> python-exec

#: exec in a table is found
table = {"x": exec}  #> python-exec

#: exec handed on is found
values = list(map(exec, ["1", "2"]))  #> python-exec

#: exec as a default is found
def apply(text, how=exec):  #> python-exec
    return how(text)

#: exec by a walrus is found
if (f := exec):  #> python-exec
    f("x = 1")  #> python-exec

#: exec of sys.modules is found
import sys

sys.modules["builtins"].exec("x = 1")  #> python-exec

#: exec in a comprehension is found
print({k: exec(k) for k in ("1", "2")})  #> python-exec

#: exec after an earlier use of the same name as an attribute is found
class Model:
    def exec(self):
        return self.exec


m = Model()
m.exec()
exec("x = 1")  #> python-exec

#: the statement of Python 2 is found
exec "x = 1"  #> python-exec

#: execfile is found
execfile("a.py")  #> python-exec

#: exec with a space before its arguments is found
exec ("x = 1", {})  #> python-exec
