"""Events in the formats of other programs, one file per kind of program."""
