// scenario HOST PORT MODE: MODE interpolate or prepare (see README.md)
package main

import (
	"database/sql"
	"fmt"
	"os"

	_ "github.com/go-sql-driver/mysql"
)

const columns = "id, title, s, n, b, f, k, ts, j, m, w, v"

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func expect(what string, got, want interface{}) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		must(fmt.Errorf("%s: got %v, want %v", what, got, want))
	}
}

func values(i int) []interface{} {
	return []interface{}{uint64(9223372036854775807) + uint64(i), fmt.Sprintf("строка %d 行 😀", i),
		fmt.Sprintf("it's \"%d\" \\ %%", i), int64(4294967295 - i), int64(-9000000000000 - i), float64(i) / 4, i % 2,
		1700000000 + i, fmt.Sprintf("{\"i\":%d}", i)}
}

func main() {
	mode := os.Args[3]
	table := "conn_go_" + mode
	db, err := sql.Open("mysql", fmt.Sprintf("scenario@tcp(%s:%s)/Manticore?charset=utf8mb4&interpolateParams=%t",
		os.Args[1], os.Args[2], mode == "interpolate"))
	must(err)
	run := func(query string, args ...interface{}) { _, err := db.Exec(query, args...); must(err) }
	run("DROP TABLE IF EXISTS " + table)
	run("CREATE TABLE " + table + " (title text, s string, n int, b bigint, f float, k bool, ts timestamp, j json, m multi, w multi64, v float_vector)")
	for i := 1; i <= 1000; i++ {
		run(fmt.Sprintf("INSERT INTO %s (%s) VALUES (?,?,?,?,?,?,?,?,?, (%d,%d), (-%d), (%d,0.5))", table, columns, i, i+1, i, i), values(i)...)
	}
	var count int
	must(db.QueryRow("SELECT count(*) FROM " + table).Scan(&count))
	expect("count", count, 1000)
	for _, i := range []int{1, 500, 1000} {
		want := values(i)
		var id uint64
		var title, s, j, m, w, v string
		var n, b, k, ts int64
		var f float64
		must(db.QueryRow("SELECT "+columns+" FROM "+table+" WHERE id = ?", want[0]).Scan(&id, &title, &s, &n, &b, &f, &k, &ts, &j, &m, &w, &v))
		expect("row", []interface{}{id, title, s, n, b, f, k, ts, j}, want)
		expect("sets", m+";"+w, fmt.Sprintf("%d,%d;-%d", i, i+1, i))
		expect("vector", v, fmt.Sprintf("%d.000000,0.500000", i))
	}
	run("DROP TABLE " + table)
	fmt.Println("ok")
}
