"""Every declaration that ever held, as documents, with the files it names; not who may go back to it."""
