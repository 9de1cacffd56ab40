"""How the documentation is built: ``sphinx-build -W python/docs OUT``, with the package installed, fetching nothing."""

import warnings

import cwnd

project = "cwnd"
author = "the authors of cwnd"
version = release = cwnd.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"cwnd {release}"
html_static_path: list[str] = []

# Whatever cannot be run or found fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the sections of the docstrings have them
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

# Names of attributes and kinds of arguments are looked up as references, and several classes have a `rate`.
suppress_warnings = ["ref.python"]

# Warnings of the kernel's own libraries.
warnings.filterwarnings("ignore", category=DeprecationWarning)
