// Scenario.java CLIENT HOST PORT: client-prepare server-prepare (see README.md)
import java.math.BigInteger;
import java.sql.*;

public class Scenario {
  static final BigInteger BASE = BigInteger.valueOf(Long.MAX_VALUE);
  static final String COLUMNS = "id, title, s, n, b, f, k, ts, j, m, w, v";

  static void expect(String what, Object got, Object want) {
    if (!got.toString().equals(want.toString())) {
      System.err.println(what + ": got " + got + ", want " + want);
      System.exit(1);
    }
  }

  public static void main(String[] args) throws Exception {
    boolean server = args[0].equals("server-prepare");
    String table = "conn_java_" + (server ? "s" : "c");
    String url = "jdbc:mariadb://" + args[1] + ":" + args[2] + "/Manticore?user=scenario&useServerPrepStmts=" + server;
    try (Connection c = DriverManager.getConnection(url); Statement s = c.createStatement()) {
      s.execute("DROP TABLE IF EXISTS " + table);
      s.execute("CREATE TABLE " + table + " (title text, s string, n int, b bigint, f float, k bool, ts timestamp, j json,"
          + " m multi, w multi64, v float_vector)");
      for (int i = 1; i <= 1000; i++) {
        try (PreparedStatement p = c.prepareStatement("INSERT INTO " + table + " (" + COLUMNS
            + ") VALUES (?,?,?,?,?,?,?,?,?, (" + i + "," + (i + 1) + "), (-" + i + "), (" + i + ",0.5))")) {
          p.setObject(1, new java.math.BigDecimal(BASE.add(BigInteger.valueOf(i))));
          p.setString(2, "строка " + i + " 行 😀");
          p.setString(3, "it's \"" + i + "\" \\ %");
          p.setLong(4, 4294967295L - i);
          p.setLong(5, -9000000000000L - i);
          p.setFloat(6, i / 4f);
          p.setInt(7, i % 2);
          p.setLong(8, 1700000000L + i);
          p.setString(9, "{\"i\":" + i + "}");
          p.executeUpdate();
        }
      }
      try (ResultSet r = s.executeQuery("SELECT count(*) FROM " + table)) {
        r.next();
        expect("count", r.getLong(1), 1000);
      }
      for (int i : new int[] {1, 500, 1000}) {
        try (PreparedStatement p = c.prepareStatement("SELECT " + COLUMNS + " FROM " + table + " WHERE id = ?")) {
          p.setObject(1, new java.math.BigDecimal(BASE.add(BigInteger.valueOf(i))));
          try (ResultSet r = p.executeQuery()) {
            r.next();
            expect("id", r.getObject(1), BASE.add(BigInteger.valueOf(i)));
            expect("title", r.getString(2), "строка " + i + " 行 😀");
            expect("s", r.getString(3), "it's \"" + i + "\" \\ %");
            expect("n", r.getLong(4), 4294967295L - i);
            expect("b", r.getLong(5), -9000000000000L - i);
            expect("f", r.getFloat(6), i / 4f);
            expect("k", r.getInt(7), i % 2);
            expect("ts", r.getLong(8), 1700000000L + i);
            expect("j", r.getString(9), "{\"i\":" + i + "}");
            expect("m", r.getString(10), i + "," + (i + 1));
            expect("w", r.getString(11), "-" + i);
            expect("v", r.getString(12), i + ".000000,0.500000");
          }
        }
      }
      s.execute("DROP TABLE " + table);
    }
    System.out.println("ok");
  }
}
