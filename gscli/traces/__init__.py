"""What a run did, as facts."""
