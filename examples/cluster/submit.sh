#!/bin/sh
# Hands a learning run to a cluster as a job: it goes on when this shell ends. Needs pip install 'ray[default]'.
#
#   hauteur cluster start --dashboard      # on the head; other machines: hauteur cluster join HOST:6379
#   sh examples/cluster/submit.sh runs/connect4.toml /runs/connect4
#
# The second argument is the run's folder on the head, outside of the job's own folder, which Ray deletes. Ray's options
# (RAY_API_SERVER_ADDRESS) and the token of the cluster (~/.ray/auth_token) are read as by any command of Ray.
set -e
recipe=$1
run=$2
export RAY_AUTH_MODE="${RAY_AUTH_MODE:-token}"
export RAY_API_SERVER_ADDRESS="${RAY_API_SERVER_ADDRESS:-http://127.0.0.1:8265}"
export RAY_USAGE_STATS_ENABLED=0
job=$(mktemp -d)
trap 'rm -rf "$job"' EXIT
cp "$recipe" "$job/recipe.toml"
ray job submit --working-dir "$job" -- hauteur train recipe.toml --run "$run" --cluster auto
