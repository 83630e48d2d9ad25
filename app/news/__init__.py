"""News sent to webhooks: what a webhook's audience may see of it, its format, and its delivery. `app.webhooks` stores
news.
"""
