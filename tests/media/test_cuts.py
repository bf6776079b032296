from __future__ import annotations

import numpy as np
import pytest

from dayline.media.cuts import changes, hard_cut

SHAPE = (18, 32, 3)


def shot(seed: int, n: int, *, noise: float = 3.0, drift: float = 0.5) -> list[np.ndarray]:
    """A still of its own, with noise and light that drifts."""
    rng = np.random.default_rng(seed)
    still = rng.uniform(40, 200, SHAPE)
    frames = [still + drift * k + rng.normal(scale=noise, size=SHAPE) for k in range(n)]
    return [np.clip(frame, 0, 255).astype(np.uint8) for frame in frames]


def cut_in(images, first=1, stop=None):
    return hard_cut(changes(images), first, len(images) if stop is None else stop)


def test_a_cut_is_the_first_frame_of_the_new_shot():
    found = changes([*shot(0, 20), *shot(1, 17)])
    assert hard_cut(found, 1, 37) == 20
    assert found.share[20] == pytest.approx(1, abs=0.1)
    assert found.step[20] > 5 * np.delete(found.step, 20).max()


def test_the_frames_next_to_the_edges_are_found_too():
    assert cut_in([*shot(0, 1), *shot(1, 30)]) == 1
    assert cut_in([*shot(0, 30), *shot(1, 1)]) == 30


def test_only_the_frames_asked_for_count():
    images = [*shot(0, 10), *shot(1, 20), *shot(2, 10)]
    assert cut_in(images) is None  # two cuts, neither of which stands out
    assert cut_in(images, 5, 20) == 10
    assert cut_in(images, 11, 30) is None
    assert cut_in(images, 11, 31) == 30
    assert cut_in(images, 12, 12) is None


@pytest.mark.parametrize("n", [8, 12, 25, 50])
def test_a_dissolve_is_not_a_cut(n):
    shares = np.linspace(0, 1, n + 2)[1:-1]
    a, b = shot(0, 20 + n), shot(1, n + 20)
    mixed = [
        ((1 - w) * x + w * y).astype(np.uint8) for w, x, y in zip(shares, a[20:], b, strict=False)
    ]
    assert cut_in([*a[:20], *mixed, *b[n:]]) is None


def test_a_cut_with_one_mixed_frame_is_at_one_of_the_two():
    a, b = shot(0, 20), shot(1, 20)
    mixed = (0.5 * a[-1] + 0.5 * b[0]).astype(np.uint8)
    assert cut_in([*a, mixed, *b]) in (20, 21, None)
    mostly_new = (0.2 * a[-1] + 0.8 * b[0]).astype(np.uint8)
    assert cut_in([*a, mostly_new, *b]) == 20


def test_a_flash_is_not_a_cut():
    images = shot(0, 40)
    images[20] = np.full(SHAPE, 255, dtype=np.uint8)
    assert cut_in(images) is None


def test_a_flash_does_not_hide_a_cut():
    images = [*shot(0, 30), *shot(1, 20)]
    images[12] = np.full(SHAPE, 255, dtype=np.uint8)
    assert cut_in(images) == 30


def test_a_thing_that_appears_is_not_a_cut():
    images = shot(0, 40)
    for image in images[20:]:
        image[5:8, 10:16] = 255
    assert cut_in(images) is None


def test_stills_and_noise_have_no_cut():
    assert cut_in([shot(0, 1)[0]] * 30) is None
    assert cut_in(shot(0, 30, noise=30.0)) is None
    assert cut_in(shot(0, 1)) is None


def test_a_shaking_camera_has_no_cut_and_hides_none():
    rng = np.random.default_rng(4)

    def shaken(seed: int, n: int) -> list[np.ndarray]:
        place = np.repeat(np.repeat(shot(seed, 1)[0], 2, axis=0), 2, axis=1)
        corners = 4 + rng.integers(0, 2, (n, 2))
        return [place[top : top + 18, left : left + 26] for top, left in corners]

    assert cut_in(shaken(0, 60)) is None
    assert cut_in([*shaken(0, 30), *shaken(1, 30)]) == 30
