"""Searches for a formula that serves jobs better than `fair`: whatever is better is changed again."""
import json, math, random, subprocess, sys, time

ATOMS = ["maps", "reduces", "running", "remaining", "remaining_maps", "remaining_reduces"]
ATOMS += [f"{name} / 10s" for name in ["age", "waited", "attained", "map_time", "reduce_time"]]
chance = random.Random(1)


def term():
    """A weight, and one or two atoms that are multiplied or divided."""
    atoms = chance.sample(ATOMS, chance.randint(1, 2))
    return [chance.uniform(-1, 1), chance.choice([" * ", " / "]).join(f"({atom})" for atom in atoms)]


def formula(terms):
    return " + ".join(f"({weight:.4g}) * {atoms}" for weight, atoms in terms)


def changed(terms, is_shape):
    """Another formula: one term more, fewer or replaced; or one weight turned up or down."""
    terms = [list(one) for one in terms]
    place = chance.randrange(len(terms))
    if not is_shape:
        terms[place][0] *= math.exp(chance.gauss(0, 1))
    elif len(terms) < 4 and chance.random() < 0.5:
        terms.append(term())
    elif 1 < len(terms) and chance.random() < 0.5:
        terms.pop(place)
    else:
        terms[place] = term()
    return terms


def score(policy, *more):
    command = ["mumakil", "policy", "score", policy, "--suite", "small", "--json", *more]
    told = subprocess.run(command, capture_output=True, text=True).stdout
    return json.loads(told)


minutes = float(sys.argv[1]) if 1 < len(sys.argv) else 8
ends, best, least, tried = time.time() + 60 * minutes, [term()], math.inf, 0
while time.time() < ends:
    other = changed(best, is_shape=time.time() < ends - 30 * minutes)
    with open("found.yaml", "w") as file:
        json.dump({"rank": {"jobs": formula(other)}}, file)
    total, tried = score("found.yaml")["total"] or math.inf, tried + 1
    if total < least:
        best, least = other, total
        print(f"{tried:4}  {total:.3f}  {formula(best)}", flush=True)
with open("found.yaml", "w") as file:
    json.dump({"rank": {"jobs": formula(best)}}, file)
found, fair = (score(policy, "--key", "nobody has tuned to it") for policy in ["found.yaml", "fair"])
print(f"found {found['total']:.3f}, held back {found['held_back']:.3f}; fair {fair['total']:.3f}, {fair['held_back']:.3f}")
