#: eval by its plain name is found
eval("1 + 1")  #> python-eval@1

#: eval in a function is found
def calculate(text):
    value = eval(text)  #> python-eval@13
    return value

#: eval of builtins is found
import builtins

builtins.eval("1 + 1")  #> python-eval

#: eval of what every module knows as builtins is found
__builtins__.eval("1 + 1")  #> python-eval
__builtins__["eval"]("1 + 1")  #> python-eval

#: eval imported from builtins is found
from builtins import eval as calculate

calculate("1 + 1")  #> python-eval

#: eval assigned to a name is found twice
run_it = eval  #> python-eval
run_it("1 + 1")  #> python-eval

#: eval by getattr is found
import builtins

getattr(builtins, "eval")("1 + 1")  #> python-eval

#: eval in a lambda is found
table = {"x": lambda t: eval(t)}  #> python-eval

#: eval in a table is found
table = {"x": eval}  #> python-eval

#: eval handed on is found
values = list(map(eval, ["1", "2"]))  #> python-eval

#: eval as a default is found
def apply(text, how=eval):  #> python-eval
    return how(text)

#: eval by a walrus is found
if (f := eval):  #> python-eval
    f("1 + 1")  #> python-eval

#: eval of sys.modules is found
import sys

sys.modules["builtins"].eval("1 + 1")  #> python-eval

#: eval in a comprehension is found
print({k: eval(k) for k in ("1", "2")})  #> python-eval

#: eval after an earlier use of the same name as an attribute is found
class Model:
    def eval(self):
        return self.eval


m = Model()
m.eval()
eval("1 + 1")  #> python-eval
