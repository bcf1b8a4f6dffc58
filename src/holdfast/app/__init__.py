"""The only place where everything is put together: settings, stores, tools, the opened whole."""
