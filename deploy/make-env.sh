#!/bin/sh
# Writes deploy/.env: .env.example with a random value for each secret. Never over one that is there: its passwords are those
# that the stores were made with.
set -eu
cd "$(dirname "$0")"
if [ -e .env ]; then
  echo 'deploy/.env is there already, and stays as it is' >&2
  exit 0
fi
umask 077
while IFS= read -r line; do
  case $line in
    '#'*) ;;
    *=) line=$line$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n') ;;
  esac
  printf '%s\n' "$line"
done <.env.example >.env.new
mv .env.new .env
echo 'deploy/.env is written; TAILRACE_PRIVATE_KEY in it is a key with every scope' >&2
