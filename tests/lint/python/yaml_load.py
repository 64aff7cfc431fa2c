#: yaml.load without a loader is found
import yaml

yaml.load(text)  #> python-yaml-load@1

#: yaml.load with the full loader is found
import yaml

yaml.load(text, Loader=yaml.FullLoader)  #> python-yaml-load

#: yaml.load with the unsafe loader at its position is found
import yaml

yaml.load(text, yaml.UnsafeLoader)  #> python-yaml-load

#: yaml.load under another name is found
from yaml import load as read

read(text)  #> python-yaml-load

#: yaml.load of a module with another name is found
import yaml as y

y.load(text, Loader=y.Loader)  #> python-yaml-load

#: yaml.load_all is found
import yaml

for document in yaml.load_all(text):  #> python-yaml-load
    pass

#: yaml.load by getattr is found
import yaml

getattr(yaml, "load")(text)  #> python-yaml-load

#: yaml.load assigned to a name is found
import yaml

read = yaml.load
read(text)  #> python-yaml-load

#: yaml.load with a loader that cannot be told is found
import yaml


def read(text, loader):
    return yaml.load(text, Loader=loader)  #> python-yaml-load

#: yaml.load with keywords that cannot be seen is found
import yaml


def read(text, **kwargs):
    return yaml.load(text, **kwargs)  #> python-yaml-load

#: yaml.load of a star import is found
from yaml import *

load(text)  #> python-yaml-load

#: yaml.load of import_module is found
from importlib import import_module

import_module("yaml").load(text)  #> python-yaml-load

#: yaml.load of __import__ is found
__import__("yaml").load(text)  #> python-yaml-load python-import

#: yaml.load handed on is found
import yaml

documents = map(yaml.load, texts)  #> python-yaml-handed-on

#: a class of one's own made from a safe loader is found, for it may have got more
import yaml


class Mine(yaml.SafeLoader):
    pass


yaml.load(text, Loader=Mine)  #> python-yaml-load

#: a loader that is safe in one branch only is found
import yaml

Loader = yaml.SafeLoader if trusted else yaml.Loader
yaml.load(text, Loader=Loader)  #> python-yaml-load

#: yaml.unsafe_load and its kin are found
import yaml

yaml.unsafe_load(text)  #> python-yaml-unsafe
yaml.unsafe_load_all(text)  #> python-yaml-unsafe
yaml.full_load(text)  #> python-yaml-unsafe

#: a safe loader by keyword is clean
import yaml

yaml.load(text, Loader=yaml.SafeLoader)
yaml.load(text, Loader=yaml.CSafeLoader)

#: a safe loader at its position is clean
import yaml

yaml.load(text, yaml.SafeLoader)

#: a safe loader under another name is clean
from yaml import CSafeLoader as Fast
from yaml import load

load(text, Loader=Fast)

#: a safe loader in a literal that is spread is clean
import yaml

yaml.load(text, **{"Loader": yaml.SafeLoader})

#: either safe loader is clean
import yaml

try:
    from yaml import CSafeLoader as Loader
except ImportError:
    from yaml import SafeLoader as Loader

yaml.load(text, Loader=Loader)

#: a safe loader from its own module is clean
import yaml
import yaml.loader

yaml.load(text, Loader=yaml.loader.SafeLoader)

#: the loader that makes only strings is clean
import yaml

yaml.load(text, Loader=yaml.BaseLoader)

#: yaml.safe_load and its kin are clean
import yaml

yaml.safe_load(text)
list(yaml.safe_load_all(text))
yaml.dump({})

#: the load of another module is clean
import json
import tomllib

json.load(stream)
tomllib.load(stream)
json.loads(text)

#: yaml.load with the faster of two safe loaders is clean
import yaml

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
yaml.load("a: 1", Loader=Loader)

#: yaml.load with a safe loader or an unsafe one is found
import yaml

yaml.load("a: 1", Loader=getattr(yaml, "CSafeLoader", yaml.Loader))  #> python-yaml-load
yaml.load("a: 1", Loader=getattr(yaml, "SafeLoader", other))  #> python-yaml-load
yaml.load("a: 1", Loader=getattr(yaml, name, yaml.SafeLoader))  #> python-yaml-load
yaml.load("a: 1", Loader=other if late else getattr(yaml, "SafeLoader"))  #> python-yaml-load

#: a partial with a safe loader is clean
import functools
import yaml

load = functools.partial(yaml.load, Loader=yaml.SafeLoader)
load(text)

#: a partial with the faster safe loader is clean
from functools import partial
import yaml

load = partial(yaml.load_all, Loader=yaml.CSafeLoader)

#: a partial without a safe loader is found
import functools
import yaml

load = functools.partial(yaml.load, Loader=yaml.Loader)  #> python-yaml-handed-on
other = functools.partial(yaml.load)  #> python-yaml-handed-on
