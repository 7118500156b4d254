<?php // scenario.php CLIENT HOST PORT: mysqli pdo-emulated pdo-native (see README.md)
[, $client, $host, $port] = $argv;
$table = 'conn_php_' . str_replace('-', '_', $client);
function id(int $i): string { return bcadd_('9223372036854775807', $i); }
function bcadd_(string $big, int $add): string {  // no bcmath needed: only the last digits change
    return substr($big, 0, -4) . sprintf('%04d', (int)substr($big, -4) + $add);
}
function values(int $i): array {
    return [id($i), "строка $i 行 😀", "it's \"$i\" \\ %", 4294967295 - $i, -9000000000000 - $i, $i / 4, $i % 2, 1700000000 + $i, "{\"i\":$i}"];
}
function expect(string $what, $got, $want): void {
    if ($got != $want) { fwrite(STDERR, "$what: got " . var_export($got, true) . ', want ' . var_export($want, true) . "\n"); exit(1); }
}
$columns = 'id, title, s, n, b, f, k, ts, j, m, w, v';
$create = "CREATE TABLE $table (title text, s string, n int, b bigint, f float, k bool, ts timestamp, j json, m multi, w multi64, v float_vector)";
$insert = fn(int $i) => "INSERT INTO $table ($columns) VALUES (?,?,?,?,?,?,?,?,?, ($i," . ($i + 1) . "), (-$i), ($i,0.5))";
if ($client === 'mysqli') {
    mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
    $c = new mysqli($host, 'scenario', '', 'Manticore', (int)$port);
    $c->set_charset('utf8mb4');
    $run = function (string $sql, array $params = []) use ($c): array {
        $s = $c->prepare($sql);
        if ($params) { $s->bind_param(implode('', array_map(fn($v) => is_int($v) ? 'i' : (is_float($v) ? 'd' : 's'), $params)), ...$params); }
        $s->execute();
        $r = $s->get_result();
        $rows = $r ? $r->fetch_all(MYSQLI_NUM) : [];
        $s->close();
        return $rows;
    };
} else {
    $c = new PDO("mysql:host=$host;port=$port;dbname=Manticore;charset=utf8mb4", 'scenario', '',
        [PDO::ATTR_EMULATE_PREPARES => $client === 'pdo-emulated', PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $run = function (string $sql, array $params = []) use ($c): array {
        $s = $c->prepare($sql);
        foreach ($params as $k => $v) { $s->bindValue($k + 1, $v, is_int($v) ? PDO::PARAM_INT : PDO::PARAM_STR); }
        $s->execute();
        return $s->columnCount() ? $s->fetchAll(PDO::FETCH_NUM) : [];
    };
}
$run("DROP TABLE IF EXISTS $table");
$run($create);
for ($i = 1; $i <= 1000; $i++) { $run($insert($i), values($i)); }
expect('count', (int)$run("SELECT count(*) FROM $table")[0][0], 1000);
foreach ([1, 500, 1000] as $i) {
    $row = $run("SELECT $columns FROM $table WHERE id = ?", [id($i)])[0];
    $want = values($i);
    expect('id', (string)$row[0], $want[0]);
    expect('texts', array_slice($row, 1, 2), array_slice($want, 1, 2));
    expect('numbers', array_map('floatval', array_slice($row, 3, 5)), array_map('floatval', array_slice($want, 3, 5)));
    expect('json', $row[8], $want[8]);
    expect('sets', [$row[9], $row[10]], ["$i," . ($i + 1), "-$i"]);
    expect('vector', $row[11], "$i.000000,0.500000");
}
$run("DROP TABLE $table");
echo "ok\n";
