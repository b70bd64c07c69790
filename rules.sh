cd /tmp/cb/old; PYTHONPATH=/tmp/cb/old/python HAUTEUR_CACHE=/work/cache-core timeout 120 /work/main/.venv/bin/python -m hauteur.cli bench rules --rounds 1 2>&1
