"""Looking for what an agent did and knows: backends that find, and how what they find is ranked."""
