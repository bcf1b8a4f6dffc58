"""Where tools come from: functions, objects and flow classes become one `Tool` each."""
