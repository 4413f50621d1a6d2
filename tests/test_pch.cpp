// Carries the precompiled header of the test programs; holds no code of its own.
