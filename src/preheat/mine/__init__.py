"""Requests → Profile: the prefix tree, tenants and adapters, arrival times, prompt clusters."""
