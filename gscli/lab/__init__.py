"""Many runs: compare, rules, check, verify, batch."""
