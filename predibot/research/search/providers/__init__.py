"""The search providers that come with predibot, one module for each way in which they are asked."""
