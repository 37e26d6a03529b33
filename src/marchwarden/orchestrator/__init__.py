"""The PI: several researchers behind one contract."""
