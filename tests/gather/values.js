db.query(`SELECT a FROM ${table}`);
db.query(`SELECT a FROM t WHERE b = ${value}`); // FIND js-sql-of-made-text
db.query("SELECT a FROM t WHERE b = '" + value + "'", done); // FIND js-sql-of-made-text
knex.raw(`DELETE FROM t WHERE b IN (${values})`); // FIND js-sql-of-made-text
connection.execute(`INSERT INTO t VALUES (${value})`); // FIND js-sql-of-made-text
exec(n - 1);
exec("ls " + name); // FIND js-exec-of-made-text
// eval(name);
eval(name); // FIND js-eval-of-value
new Function("a", body); // FIND js-function-of-value
new Function("return 1");
