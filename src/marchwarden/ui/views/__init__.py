"""What each address of the page shows, as HTML made from values already read."""
