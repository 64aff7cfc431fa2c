import functools
from yaml import SafeLoader

subprocess.run(command, shell=True)  # FIND py-shell-of-value
subprocess.Popen(self.command, shell=True, text=True)  # FIND py-shell-of-value
subprocess.check_output(commands[0], shell=True)  # FIND py-shell-of-value
subprocess.run(sys.argv[1], shell=True)  # FIND py-shell-of-value py-shell-of-input
subprocess.run(request.args["c"], shell=True)  # FIND py-shell-of-value py-shell-of-input
subprocess.Popen(self.request.body.decode(), shell=True, text=True)  # FIND py-shell-of-input
subprocess.check_output(sock.recv(4096), shell=True)  # FIND py-shell-of-input
subprocess.call(input("run: "), shell=True)  # FIND py-shell-of-input
subprocess.run("ls " + request.args["d"], shell=True)  # FIND py-shell-of-made-text py-shell-of-input
subprocess.run(shlex.quote(request.args["c"]), shell=True)
subprocess.run([request.args["c"]], shell=True)
subprocess.run("request", shell=True)
subprocess.run(request.args["c"], shell=False)
subprocess.run("ls", shell=True)
subprocess.run(args, shell=True)
subprocess.run("ls %s" % name, shell=True)  # FIND py-shell-of-made-text
subprocess.run("ls %s" % shlex.quote(name), shell=True)
eval(name)  # FIND py-eval-of-value
eval(request.args["e"])  # FIND py-eval-of-value py-eval-of-input
exec(response.text, scope)  # FIND py-eval-of-value py-eval-of-input
eval(input())  # FIND py-eval-of-value py-eval-of-input
eval(shape.geojson)  # FIND py-eval-of-value py-eval-of-input
exec(compile(text, "x", "exec"))
exec("response = 1")
cursor.execute("SELECT a FROM %s WHERE b = %%s" % table, [value])
cursor.execute("UPDATE %s SET %s = %%s WHERE c < %%s" % (table, column), [value, c])
cursor.execute("SELECT a FROM t WHERE b LIKE '%%%s%%'" % value)  # FIND py-sql-of-made-text
cursor.execute(f"SELECT a FROM {t}, u WHERE u.a = {t}.a")
cursor.execute(f"SELECT a FROM t WHERE b = '{value}' AND c = 1")  # FIND py-sql-of-made-text
subprocess.run(command, shell=False)
functools.partial(yaml.load, Loader=SafeLoader)
yaml.load(text, Loader=OwnSafeLoader)
yaml.load(text, Loader=yaml.Loader)  # FIND py-yaml-load
cursor.execute("SELECT a FROM %s" % table)
cursor.execute(f"UPDATE {table} SET {column} = ?", (value,))
cursor.execute(f"SELECT a FROM {table} WHERE b = {value}")  # FIND py-sql-of-made-text
cursor.execute("SELECT a FROM t WHERE b = '%s'" % value)  # FIND py-sql-of-made-text
cursor.execute("SELECT a FROM t WHERE b = " + value)  # FIND py-sql-of-made-text
cursor.execute("INSERT INTO t VALUES ('{}')".format(value))  # FIND py-sql-of-made-text
cursor.execute("DELETE FROM t WHERE b IN (%s)" % values)  # FIND py-sql-of-made-text
cursor.execute("SELECT a FROM t WHERE b LIKE '%" + value + "%'")  # FIND py-sql-of-made-text
archive.extractall()
tar.extractall(path)  # FIND py-tar-extract
pickle.loads(request.body)  # FIND py-pickle-load py-pickle-of-input
pickle.loads(sock.recv(4096))  # FIND py-pickle-load py-pickle-of-input
pickle.loads(base64.b64decode(text))  # FIND py-pickle-load py-pickle-of-input
pickle.loads(request.cookies["s"])  # FIND py-pickle-load py-pickle-of-input
pickle.loads(redis.get(key))  # FIND py-pickle-load py-pickle-of-input
pickle.loads(message.payload)  # FIND py-pickle-load py-pickle-of-input
pickle.loads(response.content)  # FIND py-pickle-load py-pickle-of-input
pickle.loads(payload)  # FIND py-pickle-load py-pickle-of-input
dill.loads(body)  # FIND py-pickle-load py-pickle-of-input
marshal.loads(socket_bytes)  # FIND py-pickle-load py-pickle-of-input
pickle.loads(state)  # FIND py-pickle-load
os.system("kill %d" % number)
os.system("kill %s" % name)  # FIND py-os-system-of-made-text
cursor.execute("SELECT a FROM t WHERE b IN (%s)" % ",".join("?" * 3))
