"""Talks of three subjects, as subtitles."""

from random import Random

SUBJECTS = (
    "glacier ice moraine valley melting snowfield crevasse",
    "violin concerto orchestra melody conductor rehearsal audience",
    "bread flour yeast oven dough sourdough baker",
)
OPENERS = ("We have seen the", "There is also the", "Now consider the", "And then comes the")


def written_talk(path, *, seconds=6.0, per_subject=25):
    """Three subjects, 25 sentences each of five words of the subject, at a steady pace."""
    rng = Random(0)
    lines = []
    for subject, words in enumerate(SUBJECTS):
        words = words.split()
        for k in range(per_subject):
            number = subject * per_subject + k
            said = " ".join(rng.sample(words, 5))
            start, end = number * seconds, number * seconds + seconds - 1
            stamps = " --> ".join(
                f"00:{int(t) // 60:02d}:{int(t) % 60:02d},000" for t in (start, end)
            )
            lines.append(f"{number + 1}\n{stamps}\n{OPENERS[k % 4]} {said}.\n")
    path.write_text("\n".join(lines))
    return path
