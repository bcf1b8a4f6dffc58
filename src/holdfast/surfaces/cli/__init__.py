"""The `holdfast` command. One module per verb, loaded when the verb is used."""
