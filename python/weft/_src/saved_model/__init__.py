"""SavedModels: saving, loading, freezing."""
