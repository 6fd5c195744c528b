"""The parts of bench/peers."""
