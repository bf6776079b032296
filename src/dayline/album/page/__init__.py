"""The page: a folder that opens offline in a browser, shows the events and lets a person correct them."""
