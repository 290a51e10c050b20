"""An independent verifier of tallystick ledgers, written from docs/spec alone."""
