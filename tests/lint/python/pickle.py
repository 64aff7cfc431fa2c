#: pickle.loads by its plain name is found
import pickle

pickle.loads(data)  #> python-pickle@1

#: pickle.loads of a module with another name is found
import pickle as _m


def work():
    return _m.loads(data)  #> python-pickle@12

#: pickle.loads imported by itself is found
from pickle import loads

if loads(data):  #> python-pickle
    pass

#: pickle.loads imported under another name is found
from pickle import (
    loads as go,
)

result = [go(data) for _ in range(3)]  #> python-pickle

#: pickle.loads assigned to a name is found twice
import pickle

launch = pickle.loads  #> python-pickle
launch(data)  #> python-pickle

#: pickle.loads by getattr with a literal is found
import pickle

getattr(pickle, "loads")(data)  #> python-pickle

#: pickle.loads by getattr with a literal in two halves is found
import pickle

name = "lo" + "ads"
getattr(pickle, name)(data)  #> python-pickle

#: pickle.loads of __import__ is found
__import__("pickle").loads(data)  #> python-pickle python-import

#: pickle.loads of import_module is found
import importlib

mod = importlib.import_module("pickle")
mod.loads(data)  #> python-pickle

#: pickle.loads of sys.modules is found
import sys

sys.modules["pickle"].loads(data)  #> python-pickle

#: pickle.loads of a star import is found
from pickle import *

loads(data)  #> python-pickle

#: pickle.loads imported where it is used is found
class Runner:
    def start(self):
        import pickle
        self.last = pickle.loads(data)  #> python-pickle

#: pickle.loads in the dictionary of its module is found
import pickle

pickle.__dict__["loads"](data)  #> python-pickle
vars(pickle)["loads"](data)  #> python-pickle

#: pickle.loads handed on as an argument is found
import pickle

list(map(pickle.loads, ["a", "b"]))  #> python-pickle

#: pickle.loads inside an f-string is found
import pickle

print(f'it is {pickle.loads(data)}')  #> python-pickle

#: pickle.loads chosen by a condition is found
import pickle


def go(dry):
    (print if dry else pickle.loads)(data)  #> python-pickle python-pickle

#: pickle.load is found
import pickle

with open("f", "rb") as f:
    pickle.load(f)  #> python-pickle

#: Unpickler is found
import pickle

pickle.Unpickler(stream).load()  #> python-pickle

#: a class made of Unpickler is found
import pickle


class Reader(pickle.Unpickler):  #> python-pickle
    pass

#: the module of either name is found
try:
    import cPickle as pickle
except ImportError:
    import pickle

pickle.loads(data)  #> python-pickle

#: shelve is found
import shelve

db = shelve.open("x")  #> python-pickle

#: dill is found
import dill

dill.loads(data)  #> python-pickle

#: pandas.read_pickle is found
import pandas as pd

frame = pd.read_pickle("x")  #> python-pickle
