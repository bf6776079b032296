"""The page: opens offline in a browser, shows the events and lets a person correct them."""
