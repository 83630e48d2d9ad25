"""Writing checked declarations to the database; every change is reported first."""
