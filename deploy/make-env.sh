#!/bin/sh
# Writes deploy/.env: .env.example with a random value for each secret. Existing values are kept: the stores were
# created with them.
set -eu
cd "$(dirname "$0")"
umask 077
touch .env
{
  # Ends each line, including a last one without a newline.
  awk '!/^[A-Z_]+=$/' .env
  while IFS= read -r line; do
    case $line in
      '#'*) if [ -s .env ]; then continue; fi ;;
      *=)
        if grep -q "^$line." .env; then continue; fi
        line=$line$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
        ;;
    esac
    printf '%s\n' "$line"
  done <.env.example
} >.env.new
mv .env.new .env
echo 'deploy/.env has every secret; TAILRACE_PRIVATE_KEY in it is a key with every scope' >&2
