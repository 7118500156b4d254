// node scenario.mjs CLIENT HOST PORT: mysql mysql2 mysql2-execute mysql2-sha2 mariadb mariadb-execute knex sequelize
// (see README.md). Run where node_modules holds the clients.
import { createRequire } from 'node:module';
const [, , client, host, port_] = process.argv;
const port = +port_, user = 'scenario', database = 'Manticore';
const require = createRequire(process.cwd() + '/x.js');
const table = 'conn_node_' + client.replace(/-/g, '_');
const columns = 'id, title, s, n, b, f, k, ts, j, m, w, v';
const id = (i) => String(9223372036854775807n + BigInt(i));
const values = (i) => [id(i), `строка ${i} 行 😀`, `it's "${i}" \\ %`, 4294967295 - i, -9000000000000 - i, i / 4, i % 2, 1700000000 + i, `{"i":${i}}`];

async function open() {
  if (client === 'mysql') {
    const c = require('mysql').createConnection({ host, port, user, database, charset: 'utf8mb4', supportBigNumbers: true, bigNumberStrings: true });
    const run = (sql, args) => new Promise((ok, no) => c.query(sql, args, (e, r) => (e ? no(e) : ok(r))));
    return { run, end: () => new Promise((ok) => c.end(ok)) };
  }
  if (client.startsWith('mysql2')) {
    const config = { host, port, user, database, supportBigNumbers: true, bigNumberStrings: true, jsonStrings: true };
    if (client === 'mysql2-sha2') config.password = 'secret';
    const c = await require('mysql2/promise').createConnection(config);
    const execute = client === 'mysql2-execute';
    return { run: async (sql, args) => (await (execute ? c.execute(sql, args) : c.query(sql, args)))[0], end: () => c.end() };
  }
  if (client.startsWith('mariadb')) {
    const c = await require('mariadb').createConnection({ host, port, user, database, bigIntAsNumber: false, supportBigNumbers: true, bigNumberStrings: true, autoJsonMap: false });
    const execute = client === 'mariadb-execute';
    return { run: (sql, args) => (execute ? c.execute(sql, args) : c.query(sql, args)), end: () => c.end() };
  }
  if (client === 'knex') {
    const k = require('knex')({ client: 'mysql2', connection: { host, port, user, database, supportBigNumbers: true, bigNumberStrings: true }, pool: { min: 0, max: 2 } });
    return { run: async (sql, args) => (await k.raw(sql, args ?? []))[0], end: () => k.destroy() };
  }
  const { Sequelize } = require('sequelize');
  const s = new Sequelize(database, user, '', { host, port, dialect: 'mysql', logging: false, dialectOptions: { supportBigNumbers: true, bigNumberStrings: true } });
  await s.authenticate();
  return { run: async (sql, args) => (await s.query(sql, { replacements: args }))[0], end: () => s.close() };
}

function expect(what, got, want) {
  if (String(got) !== String(want)) throw new Error(`${what}: got ${got}, want ${want}`);
}

const { run, end } = await open();
await run(`DROP TABLE IF EXISTS ${table}`);
await run(`CREATE TABLE ${table} (title text, s string, n int, b bigint, f float, k bool, ts timestamp, j json, m multi, w multi64, v float_vector)`);
for (let i = 1; i <= 1000; i++) {
  await run(`INSERT INTO ${table} (${columns}) VALUES (?,?,?,?,?,?,?,?,?, (${i},${i + 1}), (-${i}), (${i},0.5))`, values(i));
}
expect('count', (await run(`SELECT count(*) c FROM ${table}`))[0].c, 1000);
for (const i of [1, 500, 1000]) {
  const row = (await run(`SELECT ${columns} FROM ${table} WHERE id = ?`, [id(i)]))[0];
  const want = values(i);
  ['id', 'title', 's', 'n', 'b', 'f', 'k', 'ts', 'j'].forEach((name, at) => expect(name, typeof row[name] === 'object' ? JSON.stringify(row[name]) : row[name], want[at]));
  expect('m', row.m, `${i},${i + 1}`);
  expect('w', row.w, `-${i}`);
  expect('v', row.v, `${i}.000000,0.500000`);
}
await run(`DROP TABLE ${table}`);
await end();
console.log('ok');
