"""Reports: a finished run as a person reads, prints, keeps or cites it. Only `gathering` touches the disk."""
