"""Tests of moderation over HTTP."""
