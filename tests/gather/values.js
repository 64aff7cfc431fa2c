db.query(`SELECT a FROM ${table}`);
db.query(`SELECT a FROM t WHERE b = ${value}`); // FIND js-sql-of-made-text
db.query("SELECT a FROM t WHERE b = '" + value + "'", done); // FIND js-sql-of-made-text
knex.raw(`DELETE FROM t WHERE b IN (${values})`); // FIND js-sql-of-made-text
connection.execute(`INSERT INTO t VALUES (${value})`); // FIND js-sql-of-made-text
exec(n - 1);
exec("ls " + name); // FIND js-exec-of-made-text
// eval(name);
eval(name); // FIND js-eval-of-value
eval(req.query.code); // FIND js-eval-of-value js-eval-of-input
eval(location.hash.slice(1)); // FIND js-eval-of-value js-eval-of-input
eval("(" + response.text + ")"); // FIND js-eval-of-value js-eval-of-input
new Function(req.body.code); // FIND js-function-of-value js-eval-of-input
setTimeout(params.get("code"), 10); // FIND js-eval-of-input
setTimeout(() => response.end(), 10);
eval("response = 1");
db.query(`SELECT a FROM ${t}, u WHERE u.a = ${t}.a`);
new Function("a", body); // FIND js-function-of-value
new Function("return 1");
