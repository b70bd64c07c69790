"""A client of the analysis protocol: positions of two games, searched side by side by one engine."""

import json
import subprocess
import sys

queries = [
    {"id": "opening", "game": "connect4", "moves": "4 4 3", "analyzeTurns": [0, 1, 2, 3], "maxVisits": 200},
    {"id": "mate", "game": "chess", "position": "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "maxVisits": 200},
]
engine = subprocess.Popen(
    [sys.executable, "-m", "hauteur.cli", "analysis"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
lines, _ = engine.communicate("".join(f"{json.dumps(query)}\n" for query in queries))
for line in lines.splitlines():
    answer = json.loads(line)
    if "error" in answer:
        raise SystemExit(f"{answer['id']}: {answer['field']}: {answer['error']}")
    best = answer["moveInfos"][0]
    print(answer["id"], answer["turnNumber"], f"{best['winrate']:.1%}", *best["pv"])
