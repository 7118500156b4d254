#!/bin/bash
# Installs the Debian packages that are needed to build and run (build), for tests (test), for the tests with other
# languages' MySQL clients (connectors), for the clients that only the long run takes (more-connectors), and for the two
# demos of quickstart.sh (images, sentences); the one place that lists them.
#   packaging/install-packages.sh build [test] [connectors] [more-connectors] [images] [sentences]
set -eu

build_packages=(
  g++ cmake ninja-build ccache pkg-config
  libboost1.81-dev libfmt-dev libspdlog-dev libcli11-dev
  libsimdjson-dev libhowardhinnant-date-dev libre2-dev libicu-dev
  libxxhash-dev liblz4-dev libzstd-dev liburing-dev libhwy-dev zlib1g-dev libssl-dev
  tzdata mariadb-client
)
test_packages=(
  catch2 libbenchmark-dev default-libmysqlclient-dev
  clang-16 clang-format-16 libclang-rt-16-dev lld-16
  git openssl python3 python3-pymysql
)
connector_packages=(
  python3-mysqldb python3-sqlalchemy python3-pyodbc odbc-mariadb
  php-cli php-mysql libdbd-mysql-perl libdbd-mariadb-perl
  libmariadb-java default-jdk-headless mariadb-client
)
more_connector_packages=(
  golang-go golang-github-go-sql-driver-mysql-dev nodejs
)
image_packages=(dataset-fashion-mnist python3 mariadb-client)
sentence_packages=(python3-numpy libopenblas0-serial)

wanted=()
for list in "$@"; do
  case "$list" in
    build) wanted+=("${build_packages[@]}") ;;
    test) wanted+=("${test_packages[@]}") ;;
    connectors) wanted+=("${connector_packages[@]}") ;;
    more-connectors) wanted+=("${more_connector_packages[@]}") ;;
    images) wanted+=("${image_packages[@]}") ;;
    sentences) wanted+=("${sentence_packages[@]}") ;;
    *) echo "install-packages.sh: unknown list '$list', known are build, test, connectors, more-connectors, images and sentences" >&2
       exit 2 ;;
  esac
done

missing=()
for package in "${wanted[@]}"; do
  if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
    missing+=("$package")
  fi
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends "${missing[@]}"
