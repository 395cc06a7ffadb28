"""Language models: how they are opened, limited, tried again and recorded."""
