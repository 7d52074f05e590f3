from .again import circle
