"""Files that are fetched once and cached: from a publisher's hub, or joined from packages."""
