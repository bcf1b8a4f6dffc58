"""Language servers: started in the session's sandbox, spoken with over their standard streams."""
