"""One module per library: `opened()` yields the rows that library is measured by."""
