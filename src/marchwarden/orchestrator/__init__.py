"""The principal investigator (PI), which answers with several researchers behind one contract."""
