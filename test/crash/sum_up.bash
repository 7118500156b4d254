# Sourced by the kill loops: `run COMMAND...` runs a check whose last line is "N passed, N failed" and adds it to
# `passed` and `failed`.
passed=0 failed=0
run() {
  local out last
  out=$("$@" 2>&1)
  echo "$out" | sed '$d'
  last=$(echo "$out" | tail -n 1)
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    echo "$last"
    failed=$((failed + 1))
  fi
}
