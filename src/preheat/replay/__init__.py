"""A log as load: the recorded requests at their recorded spacing, measured one by one."""
