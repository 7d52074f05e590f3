"""conf.py - how Sphinx makes the site of the staged pages; build.py stages them and calls it."""
project = "fsc"
html_title = "fsc"
extensions = ["myst_parser"]
exclude_patterns = ["site/*"]
myst_heading_anchors = 4
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sphinx = False
highlight_language = "none"
# a fence of Python is a kernel or a program; .dsl kernels are not all valid Python
suppress_warnings = ["misc.highlighting_failure"]
