"""Forks, other processes, subinterpreters, the end of the interpreter: a clear error or nothing at all, never a hang."""
import multiprocessing
import os
import pathlib
import subprocess
import sys
import textwrap
import threading
import time

import chokepoint
import pytest
from conftest import PACKAGE, full


def script(text, *arguments, **options):
    """Runs Python code in its own process, with warnings as errors and development mode."""
    code = f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n" + textwrap.dedent(text)
    return subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", code, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, **options)


def in_child(call):
    """The text of what call() returned or raised in a fork."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            answer = f"returned {call()}"
        except BaseException as error:  # noqa: B902  whatever it is
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as stream:
        answer = stream.read().decode()
    os.waitpid(child, 0)
    return answer


def test_context_of_the_parent_is_an_error_in_a_fork(policy, root):
    with chokepoint.Context(policy) as context:
        assert context.run_sync(["true"], root=root).returncode == 0
        assert "forked child" in in_child(lambda: context.run_sync(["true"], root=root))
        assert "forked child" in in_child(lambda: context.explain(["true"], root=root))
        assert in_child(lambda: (context.close(), "closed")[1]) == "returned closed"
        assert context.run_sync(["true"], root=root).returncode == 0


def test_call_of_the_module_works_in_a_fork(policy, root):
    assert chokepoint.run(["true"], root=root, policy=policy).returncode == 0
    assert in_child(lambda: chokepoint.run(["sh", "-c", "exit 5"], root=root, policy=policy).returncode) == "returned 5"
    assert chokepoint.run(["true"], root=root, policy=policy).returncode == 0


def work(arguments):
    policy, root, number = arguments
    return chokepoint.run(["sh", "-c", f"exit {number}"], root=root, policy=policy, timeout=50).returncode


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"] if full() else ["fork", "spawn"])
def test_multiprocessing(policy, root, method):
    chokepoint.run(["true"], root=root, policy=policy)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(work, [(policy, str(root), number) for number in range(6)]) == list(range(6))


def test_subinterpreter_is_refused(policy):
    finished = script("""
        try:
            import _interpreters as interpreters  # since Python 3.13; run_string returns what was raised
        except ImportError:
            import _xxsubinterpreters as interpreters
        made = interpreters.create()
        try:
            print(interpreters.run_string(made, "import sys; sys.path.insert(0, %r)\\nimport chokepoint" % sys.path[0]))
        except RuntimeError as error:
            print(error)
        import chokepoint
        print(chokepoint.__version__)
    """)
    assert "subinterpreter" in finished.stdout and finished.stdout.strip().endswith(chokepoint.__version__), finished.stderr


def test_interpreter_that_ends_leaves_nothing(policy, root):
    """With runs in flight, and with a context that nobody closed."""
    finished = script("""
        import asyncio, chokepoint, threading, time
        root, policy = sys.argv[1:]
        kept = chokepoint.Context(policy)
        kept.run_sync(["true"], root=root)
        chokepoint.run(["true"], root=root, policy=policy)
        async def main():
            context = chokepoint.Context(policy)
            task = asyncio.create_task(context.run(["sh", "-c", "trap '' TERM; echo $$ > pid; while :; do sleep 1; done"], root=root, timeout=50))
            while not task.done() and not (__import__("os").path.exists(root + "/pid") and open(root + "/pid", "rb", buffering=0).read(1)):
                await asyncio.sleep(0.01)
            globals()["left"] = context, task
        loop = asyncio.new_event_loop()
        loop.run_until_complete(main())
        print("end", flush=True)
        __import__("warnings").simplefilter("ignore")
    """, root, policy)
    assert finished.stdout == "end\n", finished.stderr
    tool = int((root / "pid").read_text())
    deadline = time.monotonic() + 30
    while pathlib.Path(f"/proc/{tool}").exists():  # on a busy machine a run is given up, and its tree dies a moment later
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_context_in_use_by_another_thread_is_an_error(policy, root):
    with chokepoint.Context(policy) as context:
        thread = threading.Thread(target=context.run_sync, args=(["sleep", "1"],), kwargs={"root": root})
        thread.start()
        errors = []
        while thread.is_alive() and not errors:
            try:
                context.run_sync(["true"], root=root)
            except RuntimeError as error:
                errors.append(str(error))
        thread.join()
        assert errors and "one context for each thread" in errors[0]


def test_threads_that_end_leave_no_process(policy, root):
    def children():
        return sum(len(path.read_text().split()) for path in pathlib.Path("/proc/self/task").glob("*/children"))

    def work_in_thread():
        chokepoint.run(["true"], root=root, policy=policy)
    before = children()
    for _ in range(10):
        thread = threading.Thread(target=work_in_thread)
        thread.start()
        thread.join()
    assert children() <= before + 1


def test_import_needs_nothing_else():
    """No ctypes, no subprocess of its own, nothing but the standard library and the extension."""
    finished = script("""
        import os
        before, library = set(sys.modules), os.path.dirname(os.__file__)
        import chokepoint
        assert "ctypes" not in sys.modules
        print(*{name.partition(".")[0] for name in set(sys.modules) - before
                if not (getattr(sys.modules[name], "__file__", None) or library).startswith(library)})
    """)
    assert finished.returncode == 0 and finished.stdout.split() == ["chokepoint"], finished


def test_module_uses_the_limited_api_alone():
    """Every Python symbol that it needs is in the stable ABI of 3.9."""
    path = next(pathlib.Path(PACKAGE).glob("chokepoint/_choke.abi3.so"))
    out = subprocess.run(["nm", "-D", "--undefined-only", path], capture_output=True, text=True, check=True,
                         env={"PATH": "/usr/bin:/bin"}).stdout
    used = {line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()[-1].startswith(("Py", "_Py"))}
    stable = {"_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_Dealloc", "_PyArg_ParseTuple_SizeT", "_Py_BuildValue_SizeT",
              "_PyObject_CallFunction_SizeT"}  # behind macros of the limited API
    private = {name for name in used if name.startswith("_Py")} - stable
    newer = {"PyType_FromModuleAndSpec", "PyModule_AddObjectRef", "Py_NewRef", "Py_XNewRef", "PyObject_CallNoArgs", "PyUnicode_AsUTF8AndSize",
             "PyBuffer_Release", "PyObject_GetBuffer", "PyModule_AddType"}
    assert used and not private and not used & newer, (private, used & newer)
