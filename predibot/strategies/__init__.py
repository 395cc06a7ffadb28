"""Strategies, one file each: the checkout's top-level folder, imported under the package's name."""

from predibot._folders import plugin_folders

__path__ = plugin_folders("strategies", __path__)
