#!/usr/bin/env perl
# scenario.pl CLIENT HOST PORT: mysql mysql-server-prepare MariaDB MariaDB-server-prepare (see README.md)
use strict; use warnings; use utf8; use DBI; use bigint qw();
binmode STDERR, ':utf8';
my ($client, $host, $port) = @ARGV;
my $driver = $client =~ /^mysql/ ? 'mysql' : 'MariaDB';
my $prepare = $client =~ /server-prepare/ ? 1 : 0;
(my $table = "conn_perl_$client") =~ tr/A-Z-/a-z_/;
my $c = DBI->connect("DBI:$driver:database=Manticore;host=$host;port=$port", 'scenario', '',
    {RaiseError => 1, PrintError => 0, ($driver eq 'mysql' ? (mysql_enable_utf8mb4 => 1, mysql_server_prepare => $prepare) : (mariadb_server_prepare => $prepare))});
my $columns = 'id, title, s, n, b, f, k, ts, j, m, w, v';
sub id { my ($i) = @_; return '922337203685477' . (5807 + $i) }
sub row { my ($i) = @_; return (id($i), "строка $i 行 😀", "it's \"$i\" \\ %", 4294967295 - $i, -9000000000000 - $i, $i / 4, $i % 2, 1700000000 + $i, "{\"i\":$i}") }
sub expect { my ($what, $got, $want) = @_; die "$what: got $got, want $want\n" unless $got eq $want }
$c->do("DROP TABLE IF EXISTS $table");
$c->do("CREATE TABLE $table (title text, s string, n int, b bigint, f float, k bool, ts timestamp, j json, m multi, w multi64, v float_vector)");
for my $i (1 .. 1000) {
    my $n = $i + 1;
    $c->do("INSERT INTO $table ($columns) VALUES (?,?,?,?,?,?,?,?,?, ($i,$n), (-$i), ($i,0.5))", undef, row($i));
}
expect('count', $c->selectrow_array("SELECT count(*) FROM $table"), 1000);
for my $i (1, 500, 1000) {
    my $s = $c->prepare("SELECT $columns FROM $table WHERE id = ?");
    $s->execute(id($i));
    my @got = $s->fetchrow_array; $s->finish;
    my @want = row($i);
    expect("column $_", $got[$_], $want[$_]) for (0, 1, 2, 8);
    expect("column $_", $got[$_] + 0, $want[$_] + 0) for (3 .. 7);
    expect('m', $got[9], "$i," . ($i + 1)); expect('w', $got[10], "-$i"); expect('v', $got[11], "$i.000000,0.500000");
}
$c->do("DROP TABLE $table");
$c->disconnect;
print "ok\n";
