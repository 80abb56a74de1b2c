#!/bin/sh
# Writes deploy/kubernetes/definitions, which mounts your endpoints, sources, alerts and dashboards into the pods: their files as ConfigMaps.
#   sh deploy/kubernetes/make-definitions.sh my-logs     its folders "endpoints", "sources", "alerts" and "dashboards"
#   sh deploy/kubernetes/make-definitions.sh             those of the image again
# Run it again after each change, then kubectl apply -k.
set -eu
to=$(dirname "$0")/definitions
from=${1:-}
if [ -n "$from" ] && [ ! -d "$from/endpoints" ] && [ ! -d "$from/sources" ]; then
  echo "$from has neither a folder \"endpoints\" nor one called \"sources\"" >&2
  exit 1
fi

new=$to.new
rm -rf "$new"
mkdir "$new"
head='# Written by deploy/kubernetes/make-definitions.sh.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component'

# Copies one kind of definitions; its files in $list, a line each: key of the ConfigMap, path in the pod.
add() {
  kind=$1
  list=$new/$kind.list
  : >"$list"
  for file in "$from/$kind"/*.yaml "$from/$kind"/*.yml "$from/$kind"/*/endpoint.yaml "$from/$kind"/*/query.sql; do
    [ -f "$file" ] || continue
    path=${file#"$from/"}
    key=$(printf %s "$path" | tr / _)
    case $key in
      *[!A-Za-z0-9._-]*)
        echo "$file: a ConfigMap allows only letters, digits, \".\", \"_\" and \"-\" in names" >&2
        exit 1
        ;;
    esac
    cp "$file" "$new/$key"
    echo "$key $path" >>"$list"
  done
  if [ ! -s "$list" ]; then
    echo "$from/$kind has no definitions" >&2
    exit 1
  fi
}

kinds=
for kind in endpoints sources alerts dashboards; do
  if [ -n "$from" ] && [ -d "$from/$kind" ]; then
    add "$kind"
    kinds="$kinds $kind"
  fi
done

if [ -z "$kinds" ]; then
  printf '%s\nconfigMapGenerator: []\n' "$head" >"$new/kustomization.yaml"
else
  {
    printf '%s\nconfigMapGenerator:\n' "$head"
    for kind in $kinds; do
      printf '  - name: tailrace-%s\n    files:\n' "$kind"
      while read -r key path; do echo "      - $key"; done <"$new/$kind.list"
    done
    printf 'patches:\n  - path: pods.yaml\n    target:\n      kind: Deployment|StatefulSet\n      name: tailrace\n'
  } >"$new/kustomization.yaml"
  {
    printf -- '- op: add\n  path: /spec/template/spec/volumes/-\n  value:\n    name: definitions\n    projected:\n      sources:\n'
    for kind in $kinds; do
      printf '        - configMap:\n            name: tailrace-%s\n            items:\n' "$kind"
      while read -r key path; do printf '              - key: %s\n                path: %s\n' "$key" "$path"; done <"$new/$kind.list"
    done
    printf -- '- op: add\n  path: /spec/template/spec/containers/0/volumeMounts/-\n  value:\n    name: definitions\n    mountPath: /definitions\n    readOnly: true\n'
    printf -- '- op: add\n  path: /spec/template/spec/containers/0/env\n  value:\n'
    for kind in $kinds; do
      variable=TAILRACE_$(printf %s "$kind" | tr a-z A-Z)_DIR
      printf '    - name: %s\n      value: /definitions/%s\n' "$variable" "$kind"
    done
  } >"$new/pods.yaml"
  rm -f "$new"/*.list
fi
rm -rf "$to"
mv "$new" "$to"
echo "$to has${kinds:- no definitions: the pods serve those of their image}" >&2
