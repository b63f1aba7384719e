# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes reference.json: samples and what scipy fits to them.

    python3 -m pip install numpy scipy
    python3 crates/stats/tests/extremes/reference.py

Samples are integers of nanoseconds, drawn from a fixed seed. Excesses stand as such, the threshold
taken away, which is what `floc=0` means; none is zero. Signs: xi = -c of genextreme, xi = c of
genpareto. scipy's own search stops early; it is told to go on until nothing changes any more.
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import optimize, stats

MS = 1_000_000


def patient(function, start, args, disp):
    """scipy's default search, to the last digit."""
    for _ in range(3):
        start = optimize.fmin(
            function, start, args=args, disp=disp, xtol=1e-12, ftol=1e-13, maxiter=20_000, maxfun=20_000
        )
    return start


def gev(name, samples):
    # In ms, for the search; ln likelihood counts densities per ns.
    c, location, scale = stats.genextreme.fit(samples / MS, optimizer=patient)
    likelihood = stats.genextreme.logpdf(samples / MS, c, location, scale).sum()
    return {
        "name": name,
        "shape": -c,
        "location_ns": location * MS,
        "scale_ns": scale * MS,
        "ln_likelihood": likelihood - len(samples) * np.log(MS),
        "samples_ns": samples.tolist(),
    }


def gpd(name, excesses):
    c, _, scale = stats.genpareto.fit(excesses / MS, floc=0, optimizer=patient)
    likelihood = stats.genpareto.logpdf(excesses / MS, c, 0, scale).sum()
    return {
        "name": name,
        "shape": c,
        "scale_ns": scale * MS,
        "ln_likelihood": likelihood - len(excesses) * np.log(MS),
        "samples_ns": excesses.tolist(),
    }


def ns(samples):
    return np.rint(samples * MS).astype(np.int64)


def main():
    random = np.random.default_rng(20_090_630)
    maxima = {
        "bounded": stats.genextreme.rvs(0.25, 30, 2, size=500, random_state=random),
        "gumbel": stats.genextreme.rvs(0.0, 12, 1.5, size=1000, random_state=random),
        "heavy": stats.genextreme.rvs(-0.3, 8, 0.4, size=500, random_state=random),
        "blocks of 20 gamma times": random.gamma(4, 1.2, size=(500, 20)).max(axis=1) + 3,
        "blocks of 10 uniform times": random.uniform(5, 20, size=(500, 10)).max(axis=1),
    }
    times = random.gamma(4, 1.2, size=12_000)
    threshold = np.quantile(times, 0.95)
    excesses = {
        "bounded": stats.genpareto.rvs(-0.3, 0, 4, size=500, random_state=random),
        "exponential": stats.genpareto.rvs(0.0, 0, 0.7, size=1000, random_state=random),
        "heavy": stats.genpareto.rvs(0.4, 0, 1.1, size=500, random_state=random),
        "gamma times above 95 %": times[times > threshold] - threshold,
    }
    found = {
        "made_by": f"reference.py, numpy {np.__version__}, scipy {scipy.__version__}",
        "gev": [gev(name, ns(samples)) for name, samples in maxima.items()],
        "gpd": [gpd(name, np.maximum(ns(samples), 1)) for name, samples in excesses.items()],
    }
    path = pathlib.Path(__file__).with_name("reference.json")
    path.write_text(json.dumps(found, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")


if __name__ == "__main__":
    main()
